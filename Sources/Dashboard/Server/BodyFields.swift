internal import Foundation

/// The JSON object of a call's body, checked field by field: unknown ones are refused.
struct BodyFields {
    private let values: [String: JSONField]

    init(_ body: [UInt8], only names: Set<String>) throws(Problem) {
        guard let value = try? JSONDecoder().decode(JSONField.self, from: Data(body)) else {
            throw .badRequest("the body is not JSON")
        }
        guard case .object(let values) = value else { throw .badRequest("the body is not a JSON object") }
        try self.init(values, only: names)
    }

    private init(_ values: [String: JSONField], only names: Set<String>) throws(Problem) {
        if let stranger = values.keys.sorted().first(where: { !names.contains($0) }) {
            throw .badRequest("there is no field \(stranger.prefix(40)) here", field: String(stranger.prefix(40)))
        }
        self.values = values
    }

    func has(_ name: String) -> Bool { self.values[name] != nil }

    func text(_ name: String, bytes: ClosedRange<Int> = 0...512) throws(Problem) -> String? {
        guard let value = self.values[name] else { return nil }
        guard case .text(let text) = value else { throw .badRequest("\(name) must be text", field: name) }
        guard bytes.contains(text.utf8.count) else {
            throw .badRequest(
                "\(name) must have \(bytes.lowerBound) to \(bytes.upperBound) bytes and has \(text.utf8.count)",
                field: name
            )
        }
        return text
    }

    func required(_ name: String, bytes: ClosedRange<Int> = 1...512) throws(Problem) -> String {
        guard let text = try self.text(name, bytes: bytes) else { throw .badRequest("\(name) is missing", field: name) }
        return text
    }

    func number(_ name: String, in range: ClosedRange<Int>) throws(Problem) -> Int? {
        guard let value = self.values[name] else { return nil }
        guard case .number(let number) = value, range.contains(number) else {
            throw .badRequest(
                "\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound)",
                field: name
            )
        }
        return number
    }

    func texts(_ name: String, count: ClosedRange<Int>) throws(Problem) -> [String]? {
        guard let value = self.values[name] else { return nil }
        guard case .list(let items) = value, count.contains(items.count) else {
            throw .badRequest("\(name) must be a list of \(count.lowerBound) to \(count.upperBound)", field: name)
        }
        var texts: [String] = []
        for item in items {
            guard case .text(let text) = item, text.utf8.count <= 128 else {
                throw .badRequest("\(name) must hold texts of at most 128 bytes", field: name)
            }
            texts.append(text)
        }
        return texts
    }

    func object(_ name: String, only names: Set<String>) throws(Problem) -> BodyFields? {
        guard let value = self.values[name] else { return nil }
        guard case .object(let values) = value else { throw .badRequest("\(name) must be an object", field: name) }
        return try BodyFields(values, only: names)
    }
}

/// Any JSON value, as far as bodies have them.
private enum JSONField: Decodable {
    case null
    case flag(Bool)
    case number(Int)
    case fraction(Double)
    case text(String)
    case list([JSONField])
    case object([String: JSONField])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .flag(value)
        } else if let value = try? container.decode(Int.self) {
            self = .number(value)
        } else if let value = try? container.decode(Double.self) {
            self = .fraction(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode([JSONField].self) {
            self = .list(value)
        } else {
            self = .object(try container.decode([String: JSONField].self))
        }
    }
}
