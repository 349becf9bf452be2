internal import Foundation
internal import Push

/// Why a text cannot be the value of a key: the half of a sentence that follows the quoted text.
struct ValueFault: Error, Equatable {
    let phrase: String
}

extension SettingKey {
    /// A value that was understood.
    enum Value: Equatable {
        case text(String)
        case duration(Duration)
        case number(Int)
    }

    /// What the text means for this key, or why it means nothing.
    func parse(_ text: String) throws(ValueFault) -> Value {
        switch self.kind {
        case .text, .file: return .text(text)
        case .appleID:
            guard text.utf8.count == 10, text.allSatisfy({ $0.isASCII && ($0.isNumber || $0.isUppercase) }) else {
                throw ValueFault(phrase: "is not 10 characters of A-Z and 0-9, as Apple's ids are")
            }
            return .text(text)
        case .url(let schemes):
            guard let url = URLComponents(string: text) else {
                throw ValueFault(phrase: "is not a URL; percent-encode special characters of user and password")
            }
            guard let scheme = url.scheme, schemes.contains(scheme) else {
                throw ValueFault(phrase: "must start with \(schemes.map { "\($0)://" }.joined(separator: " or "))")
            }
            guard let host = url.host, !host.isEmpty else {
                throw ValueFault(phrase: "names no host; write \(scheme)://user:password@host")
            }
            return .text(text)
        case .duration(let range):
            let duration = try DurationText.parse(text)
            guard range.contains(duration) else {
                throw ValueFault(
                    phrase: "is out of range; it must be \(DurationText.format(range.lowerBound)) to "
                        + DurationText.format(range.upperBound)
                )
            }
            return .duration(duration)
        case .integer(let range):
            guard let number = Int(text) else { throw ValueFault(phrase: "is not a whole number") }
            guard range.contains(number) else {
                throw ValueFault(
                    phrase: "is out of range; it must be \(range.lowerBound) to \(range.upperBound)"
                )
            }
            return .number(number)
        case .choice(let words):
            guard words.contains(text) else {
                let near = EditDistance.nearest(to: text.utf8, among: words).map { "; did you mean \($0)?" }
                throw ValueFault(
                    phrase: "must be one of \(words.joined(separator: ", "))\(near ?? "")"
                )
            }
            return .text(text)
        }
    }
}
