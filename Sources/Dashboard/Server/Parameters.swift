internal import Foundation

/// The query of a call, checked: what a route does not know is refused, since a filter that is ignored would show, or
/// replay, too much.
struct Parameters {
    private var values: [String: String] = [:]

    init(_ query: String, of route: Route) throws(Problem) {
        for part in query.split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(pair[0]), let value = Self.decoded(pair.count == 2 ? pair[1] : "") else {
                throw .badRequest("the address is not percent-encoded UTF-8")
            }
            guard route.parameters.contains(name) else {
                throw .badRequest("there is no parameter \(Self.short(name)) here", field: Self.short(name))
            }
            guard self.values.updateValue(value, forKey: name) == nil else {
                throw .badRequest("\(name) stands in the address twice", field: name)
            }
        }
    }

    /// The parameter; nil if it is missing or empty.
    func text(_ name: String, limit: Int = 512) throws(Problem) -> String? {
        guard let value = self.values[name], !value.isEmpty else { return nil }
        guard value.utf8.count <= limit else { throw .badRequest("\(name) has more than \(limit) bytes", field: name) }
        return value
    }

    func required(_ name: String) throws(Problem) -> String {
        guard let value = try self.text(name) else { throw .badRequest("\(name) is missing", field: name) }
        return value
    }

    func number(_ name: String, in range: ClosedRange<Int>) throws(Problem) -> Int? {
        guard let text = self.values[name], !text.isEmpty else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw .badRequest("\(name) must be a number from \(range.lowerBound) to \(range.upperBound)", field: name)
        }
        return number
    }

    /// One of some words; `standard` if it is missing.
    func choice<Word: RawRepresentable & CaseIterable>(_ name: String) throws(Problem) -> Word?
    where Word.RawValue == String {
        guard let text = self.values[name], !text.isEmpty else { return nil }
        guard let word = Word(rawValue: text) else {
            let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw .badRequest("\(name) must be one of \(words)", field: name)
        }
        return word
    }

    /// The part of a list that is asked for.
    func page() throws(Problem) -> Page {
        Page(offset: try self.number("offset", in: 0...1_000_000_000) ?? 0, limit: try self.limit())
    }

    func limit() throws(Problem) -> Int { try self.number("limit", in: 1...500) ?? 100 }

    private static func decoded(_ text: Substring) -> String? {
        text.replacing("+", with: " ").removingPercentEncoding
    }

    private static func short(_ name: String) -> String { String(name.prefix(40)) }
}

/// Where a page of a list begins and how long it is.
struct Page: Equatable {
    var offset = 0
    var limit = 100

    func of<Item>(_ items: [Item]) -> ArraySlice<Item> {
        let start = min(self.offset, items.count)
        return items[start..<min(items.count, start + self.limit)]
    }
}
