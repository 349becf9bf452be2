/// A pattern in which `*` stands for any text.
struct Wildcard: Equatable, Sendable {
    /// Stars in one pattern.
    static let starLimit = 3

    /// What stands before the first star, between two, and after the last.
    private let parts: [[UInt8]]

    /// For each part, how much of it is left when its next byte is not found (Knuth, Morris and Pratt).
    private let borders: [[Int]]

    /// Nil for a pattern with too many stars, or two together.
    init?(_ pattern: String) {
        let parts = pattern.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false).map(Array.init)
        guard parts.count <= Self.starLimit + 1, !parts.dropFirst().dropLast().contains([]) else { return nil }
        self.parts = parts
        self.borders = parts.map(Self.borders)
    }

    /// Linear in the text and the pattern.
    func matches(_ text: String) -> Bool {
        let text = Array(text.utf8)
        guard self.parts.count > 1 else { return text == self.parts[0] }
        let first = self.parts[0]
        let last = self.parts[self.parts.count - 1]
        guard text.count >= first.count + last.count, text.starts(with: first), text.suffix(last.count) == last[...]
        else { return false }
        var start = first.count
        let end = text.count - last.count
        for (part, borders) in zip(self.parts, self.borders).dropFirst().dropLast() {
            guard let found = Self.end(of: part, borders, in: text, from: start, to: end) else { return false }
            start = found
        }
        return true
    }

    private static func borders(_ part: [UInt8]) -> [Int] {
        var borders = [Int](repeating: 0, count: part.count)
        var length = 0
        for index in part.indices.dropFirst() {
            while length > 0, part[index] != part[length] { length = borders[length - 1] }
            if part[index] == part[length] { length += 1 }
            borders[index] = length
        }
        return borders
    }

    private static func end(of part: [UInt8], _ borders: [Int], in text: [UInt8], from start: Int, to end: Int) -> Int?
    {
        var length = 0
        for index in start..<max(start, end) {
            while length > 0, text[index] != part[length] { length = borders[length - 1] }
            if text[index] == part[length] { length += 1 }
            if length == part.count { return index + 1 }
        }
        return nil
    }
}
