internal import Broker
internal import Gateway
internal import Push
internal import Store
internal import Wire

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
        case .amqpURL:
            do throws(AMQPAddressError) {
                _ = try AMQPAddress(parsing: text)
            } catch {
                // What stands at these places may be the rest of a password that was cut off.
                let mayLeak = error.part == .port || error.part == .query
                throw Self.fault("an AMQP", "\(error.part.rawValue)", mayLeak ? nil : error.problem)
            }
            return .text(text)
        case .redisURL:
            do throws(RedisAddressError) {
                _ = try RedisAddress(text)
            } catch {
                let mayLeak = error.part == .port || error.part == .database
                throw Self.fault("a Redis", "\(error.part.rawValue)", mayLeak ? nil : error.problem)
            }
            return .text(text)
        case .proxyURL:
            do throws(ProxyError) {
                _ = try Proxy(text)
            } catch {
                throw Self.fault("a proxy's", error.part, error.problem)
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
            let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
            guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else {
                throw ValueFault(phrase: "is not a whole number")
            }
            guard let number = Int(text), range.contains(number) else {
                throw ValueFault(
                    phrase: "is out of range; it must be \(range.lowerBound) to \(range.upperBound)"
                )
            }
            return .number(number)
        case .size(let range):
            let size = try SizeText.parse(text)
            guard range.contains(size) else {
                throw ValueFault(
                    phrase: "is out of range; it must be \(SizeText.format(range.lowerBound)) to "
                        + SizeText.format(range.upperBound)
                )
            }
            return .number(size)
        case .choice(let words):
            guard words.contains(text) else {
                let near = EditDistance.nearest(to: text.utf8, among: words).map { "; did you mean \($0)?" }
                throw ValueFault(
                    phrase: "must be one of \(words.joined(separator: ", "))\(near ?? "")"
                )
            }
            return .text(text)
        case .account:
            guard text.utf8.count == 12, text.allSatisfy({ $0.isASCII && $0.isNumber }) else {
                throw ValueFault(phrase: "is not 12 digits; put it in quotes, or YAML drops zeros in front")
            }
            return .text(text)
        case .policy:
            do throws(PolicyText.Problem) {
                _ = try PolicyText.parse(text)
            } catch {
                throw ValueFault(phrase: error.phrase)
            }
            return .text(text)
        }
    }

    private static func fault(_ kind: String, _ part: String, _ problem: String?) -> ValueFault {
        let hint = "percent-encode special characters of user and password"
        return ValueFault(phrase: "is not \(kind) address, at the \(part): \(problem ?? "it cannot be read"); \(hint)")
    }
}
