internal import Broker
internal import Desk
internal import Foundation
internal import Push

/// What `pushfleet dead show` says about one letter.
struct DeadShowReport: Encodable, Equatable {
    struct Advice: Encodable, Equatable {
        let reason: String
        let meaning: String
        let nextStep: String
    }

    let letter: DeadListReport.Letter
    /// Of the app's credential, if the app is known.
    let environment: String?
    let worker: String?
    let version: String?
    let publishedMs: Int64?
    let contentType: String
    /// All headers, as text.
    let headers: [String: String]
    /// Text, or base64 where it is no UTF-8.
    let body: String
    let bodyEncoding: String
    /// Whether a worker would take it as it is.
    let canReplay: Bool
    /// Why not.
    let problem: String?
    /// What the reasons mean and what to do.
    let advice: [Advice]

    init(_ letter: DeadLetter, problem: Refusal?, environment: String?, showsTokens: Bool, now: UnixTime) {
        let body = showsTokens ? letter.body : MaskedTokens.body(letter.body)
        let text = String(validating: body, as: UTF8.self)
        self.letter = DeadListReport.Letter(letter, now: now)
        self.environment = environment
        self.worker = letter.worker
        self.version = letter.version
        self.publishedMs = letter.published?.milliseconds
        self.contentType = letter.contentType
        self.headers = Dictionary(letter.headers.map { ($0.name, $0.value.description) }) { first, _ in first }
        self.body = text ?? Data(body).base64EncodedString()
        self.bodyEncoding = text == nil ? "base64" : "utf8"
        self.canReplay = problem == nil
        self.problem = problem?.sentence
        self.advice = Self.advice(letter)
    }

    /// Apple's word first: it says more.
    private static func advice(_ letter: DeadLetter) -> [Advice] {
        let apple = letter.apnsReason.map { ReasonReport.find($0).filter { $0.source == "apns" } } ?? []
        let own = ReasonReport.find(letter.reason).filter { $0.source == "dead_letter" }
        let fitting = apple.first { $0.isBroadcast == letter.isBroadcast } ?? apple.first
        return ([fitting].compactMap { $0 } + own.prefix(1)).map {
            Advice(reason: $0.reason, meaning: $0.meaning, nextStep: $0.nextStep)
        }
    }

    // MARK: Text

    var lines: [String] {
        typealias Cell = DeadListReport.Cell
        let letter = self.letter
        var rows: [(String, String)] = [
            ("message", Cell.text(letter.messageId, limit: 255)),
            (
                "app",
                [Cell.text(letter.app, limit: 128), letter.lane, self.environment].compactMap { $0 }.joined(
                    separator: ", "
                )
            ),
            ("tokens", letter.tokens.map(String.init) ?? "unknown: the body is no message of the contract"),
        ]
        if let time = self.publishedMs { rows.append(("published", Moment.full(time))) }
        if let time = letter.firstSeenMs { rows.append(("first seen", Moment.full(time))) }
        if let time = letter.diedAtMs {
            let by = self.worker.map { ", given up by \(Cell.text($0, limit: 80))" } ?? ""
            rows.append(("died", "\(Moment.full(time)), \(DeadListReport.Letter.age(letter.ageMs ?? 0)) ago\(by)"))
        }
        rows.append(("attempts", "\(letter.attempts)"))
        rows.append(("reason", Cell.reason(letter.reason, letter.apnsReason)))
        if let field = letter.field { rows.append(("field", Cell.text(field, limit: 255))) }
        if let detail = letter.detail { rows.append(("detail", Cell.text(detail, limit: 1000))) }
        rows.append(("replay", self.canReplay ? "workers would take it as it is" : "still bad: \(self.problem ?? "")"))
        var lines = ["dead letter \(letter.id)"] + rows.map { "  \(Self.padded($0.0, 11))\($0.1)" }
        for advice in self.advice {
            lines += ["", "\(advice.reason): \(advice.meaning)"]
            lines += Terminal.wrapped("What to do: \(advice.nextStep)", indent: 2)
        }
        if !self.headers.isEmpty { lines += ["", "headers"] }
        for (name, value) in self.headers.sorted(by: { $0.key < $1.key }) {
            lines.append("  \(Cell.text(name, limit: 255)): \(Cell.text(value, limit: 1000))")
        }
        let encoding = self.bodyEncoding == "base64" ? ", no UTF-8, here in base64" : ""
        lines += ["", "body (\(letter.bodyBytes) bytes\(encoding))"]
        return lines + self.body.split(separator: "\n", omittingEmptySubsequences: false).map { "  \(Self.line($0))" }
    }

    /// JSON has quotes and backslashes, which hurt no terminal, and texts in all languages, which may.
    private static func line(_ text: Substring) -> String {
        var shown = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case " "..."~": shown.unicodeScalars.append(scalar)
            case "\t": shown += "    "
            case _ where Self.isHarmless(scalar): shown.unicodeScalars.append(scalar)
            default: shown += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return shown
    }

    /// Neither an order to the terminal nor something that nobody sees.
    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator,
            .spaceSeparator:
            false
        default: true
        }
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}

extension Refusal {
    /// Reason, field and detail in one line.
    var sentence: String {
        let place = self.field.map { " (\(Shown.text($0.utf8)))" } ?? ""
        return "\(self.reason.rawValue)\(place): \(self.detail)"
    }
}
