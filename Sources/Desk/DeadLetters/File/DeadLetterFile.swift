internal import Broker
internal import Foundation
internal import Push

/// Dead letters as JSON lines.
package enum DeadLetterFile {
    /// What is wrong with a line, with the key at fault and the fix.
    package struct Fault: Error, Equatable, Sendable {
        /// The key, if one is at fault.
        package let field: String?
        package let detail: String

        init(_ field: DeadLetterLine.CodingKeys?, _ detail: String) {
            self.field = field?.rawValue
            self.detail = detail
        }
    }

    /// The letter as one line, without its line feed. Tokens are whole.
    package static func line(_ letter: DeadLetter) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(DeadLetterLine(letter)) else {
            preconditionFailure("a dead letter is no JSON")
        }
        return self.ascii(String(decoding: data, as: UTF8.self))
    }

    /// The letter that a line holds.
    package static func letter(_ line: [UInt8]) throws(Fault) -> DeadLetter {
        let values = try self.decode(line)
        let messageID = try self.bytes(values.messageID, .messageID, values.messageIDBase64, .messageIDBase64) ?? []
        guard let body = try self.bytes(values.body, .body, values.bodyBase64, .bodyBase64) else {
            throw Fault(.body, "is missing; give the body as text, or as body_base64")
        }
        try self.check(values, messageID: messageID)
        let foreign = (values.headers ?? [:]).sorted { $0.key < $1.key }.map { Header($0.key, $0.value.value) }
        if let name = foreign.first(where: { $0.name.hasPrefix("x-") || $0.name.utf8.count > 255 })?.name {
            throw Fault(
                .headers,
                "\(Quoted.text(name.utf8)) cannot be a publisher's header: leave out x-… and long names"
            )
        }
        let given = self.letter(values, messageID: messageID, body: body, foreign: foreign)
        // As the queue will give it back.
        let message = given.copy()
        if let problem = message.problem { throw Fault(.headers, problem) }
        let letter = DeadLetter(copyOf: message, foreign: foreign)
        if let id = values.id, DeadLetterID(id.lowercased()) != letter.id {
            throw Fault(.id, "is not that of this letter; if the letter was changed on purpose, leave the id out")
        }
        return letter
    }

    private static func letter(
        _ values: DeadLetterLine,
        messageID: [UInt8],
        body: [UInt8],
        foreign: [Header]
    ) -> DeadLetter {
        var headers = [Header(DeliveryHeaders.reasonName, .string(values.reason))]
        let texts = [
            (DeadLetterHeader.apnsReason, values.apnsReason), (DeadLetterHeader.field, values.field),
            (DeadLetterHeader.detail, values.detail), (DeadLetterHeader.worker, values.worker),
            (DeadLetterHeader.version, values.version),
        ]
        for case (let name, let text?) in texts { headers.append(Header(name, .string(text))) }
        let numbers = [
            (DeliveryHeaders.attemptName, values.attempt.map(Int64.init)),
            (DeliveryHeaders.copyName, values.copy.map(Int64.init)),
            (DeadLetterHeader.diedAt, values.diedAt), (DeliveryHeaders.firstSeenName, values.firstSeen),
        ]
        for case (let name, let number?) in numbers { headers.append(Header(name, .integer(number))) }
        if values.isUnfinished == true { headers.append(Header(DeliveryHeaders.unfinishedName, .bool(true))) }
        return DeadLetter(
            routingKey: values.routingKey,
            messageID: messageID,
            contentType: values.contentType ?? "application/json",
            published: values.published.map { UnixTime(seconds: $0) },
            foreign: foreign,
            headers: headers,
            body: body
        )
    }

    // MARK: Checks

    private static func check(_ values: DeadLetterLine, messageID: [UInt8]) throws(Fault) {
        if values.reason.isEmpty { throw Fault(.reason, "is empty; say why it died, such as apns_rejected") }
        let names: [(DeadLetterLine.CodingKeys, Int)] = [
            (.messageID, messageID.count), (.routingKey, values.routingKey.utf8.count),
            (.contentType, values.contentType?.utf8.count ?? 0),
        ]
        for (key, count) in names where count > 255 { throw Fault(key, "has more than 255 bytes") }
        let texts: [(DeadLetterLine.CodingKeys, String?)] = [
            (.apnsReason, values.apnsReason), (.field, values.field), (.detail, values.detail),
            (.worker, values.worker), (.version, values.version), (.reason, values.reason),
        ]
        for (key, text) in texts where (text?.utf8.count ?? 0) > 4096 { throw Fault(key, "has more than 4096 bytes") }
        let counts: [(DeadLetterLine.CodingKeys, Int?)] = [(.attempt, values.attempt), (.copy, values.copy)]
        for (key, count) in counts where !(0...1_000_000).contains(count ?? 0) {
            throw Fault(key, "must be 0 to 1000000")
        }
        let times: [(DeadLetterLine.CodingKeys, Int64?)] = [
            (.diedAt, values.diedAt), (.firstSeen, values.firstSeen), (.published, values.published),
        ]
        for (key, time) in times where (time ?? 0) < 0 { throw Fault(key, "must not be before 1970") }
    }

    private static func bytes(
        _ text: String?,
        _ textKey: DeadLetterLine.CodingKeys,
        _ base64: String?,
        _ key: DeadLetterLine.CodingKeys
    ) throws(Fault) -> [UInt8]? {
        guard let base64 else { return text.map { Array($0.utf8) } }
        guard text == nil else { throw Fault(key, "stands beside \(textKey.rawValue); give one of them") }
        guard let data = Data(base64Encoded: base64) else { throw Fault(key, "is no base64 (RFC 4648 §4)") }
        return [UInt8](data)
    }

    private static func decode(_ line: [UInt8]) throws(Fault) -> DeadLetterLine {
        let data = Data(line)
        do {
            let keys = try JSONDecoder().decode(KeyReader.self, from: data).keys
            if let unknown = keys.first(where: { DeadLetterLine.CodingKeys(rawValue: $0) == nil }) {
                let all = DeadLetterLine.CodingKeys.allCases.map(\.rawValue)
                let near = EditDistance.nearest(to: unknown.utf8, among: all).map { "; did you mean \($0)?" } ?? ""
                throw Fault(nil, "\(Quoted.text(unknown.utf8)) is not a key of a dead letter\(near)")
            }
            return try JSONDecoder().decode(DeadLetterLine.self, from: data)
        } catch let fault as Fault {
            throw fault
        } catch DecodingError.keyNotFound(let key, _) {
            throw Fault(DeadLetterLine.CodingKeys(rawValue: key.stringValue), "is missing")
        } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context) {
            let key = context.codingPath.first.flatMap { DeadLetterLine.CodingKeys(rawValue: $0.stringValue) }
            throw Fault(key, key == nil ? "the line is no JSON object" : "has a value of another type than it should")
        } catch DecodingError.dataCorrupted(let context) where !context.codingPath.isEmpty {
            let key = context.codingPath.first.flatMap { DeadLetterLine.CodingKeys(rawValue: $0.stringValue) }
            throw Fault(key, "has a value that cannot be used")
        } catch {
            // JSONDecoder calls a number that does not fit its type invalid JSON as well, without its key.
            if let key = try? JSONDecoder().decode(NumberReader.self, from: data).unfit {
                throw Fault(key, "must be a whole number of at most 64 bits")
            }
            throw Fault(nil, "the line is not valid JSON")
        }
    }

    /// Finds the first number that is not whole, or too large.
    private struct NumberReader: Decodable {
        let unfit: DeadLetterLine.CodingKeys?

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: DeadLetterLine.CodingKeys.self)
            let numbers: [DeadLetterLine.CodingKeys] = [.attempt, .copy, .diedAt, .firstSeen, .published]
            self.unfit = numbers.first { key in
                values.contains(key) && (try? values.decodeIfPresent(Int64.self, forKey: key)) == nil
            }
        }
    }

    /// The keys of an object, whatever they are.
    private struct KeyReader: Decodable {
        let keys: [String]

        private struct Key: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }

            init?(stringValue: String) { self.stringValue = stringValue }

            init?(intValue: Int) { nil }
        }

        init(from decoder: any Decoder) throws {
            self.keys = try decoder.container(keyedBy: Key.self).allKeys.map(\.stringValue).sorted()
        }
    }
}

extension DeadLetterFile {
    /// The same JSON with every character but ASCII escaped, so that no terminal takes text for orders.
    package static func ascii(_ json: String) -> String {
        guard !json.utf8.allSatisfy({ $0 < 0x7f }) else { return json }
        var text = ""
        for unit in json.utf16 {
            if unit < 0x7f {
                text.unicodeScalars.append(Unicode.Scalar(UInt8(unit)))
            } else {
                let digits = String(unit, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return text
    }
}
