/// Shortens the text of a payload until it fits: `aps.alert.body`, or `aps.alert` where that is the text itself.
///
/// It cuts between characters as readers see them (extended grapheme clusters): an emoji family, a flag or a letter with
/// its marks stays whole or goes. Escapes stay as they were written; every byte outside the text stays the same.
enum PayloadTruncation {
    /// U+2026 in UTF-8. It tells the reader that there was more.
    static let ellipsis: [UInt8] = [0xE2, 0x80, 0xA6]

    /// The payload with the longest text that fits, and an ellipsis after it; nil if even without any text it is too
    /// long, or if there is no text to shorten.
    ///
    /// - Parameters:
    ///   - payload: a JSON object that the scanner has accepted, of more than `limit` bytes.
    ///   - limit: in bytes.
    static func shortened(_ payload: UnsafeRawBufferPointer, to limit: Int) -> [UInt8]? {
        let scanner = JSONScanner(payload)
        guard let text = Self.text(scanner) else { return nil }
        let room = limit - (payload.count - text.content.count)
        guard room >= 0, room < text.content.count else { return nil }
        // Without room for the ellipsis the text can only go altogether.
        let hasEllipsis = room >= Self.ellipsis.count
        let end = hasEllipsis ? Self.cut(text, room: room - Self.ellipsis.count, scanner) : text.content.lowerBound
        var bytes: [UInt8] = []
        bytes.reserveCapacity(limit)
        bytes.append(contentsOf: payload[..<end])
        if hasEllipsis { bytes.append(contentsOf: Self.ellipsis) }
        bytes.append(contentsOf: payload[text.content.upperBound...])
        return bytes
    }

    /// Where the text lies. Of keys that come twice the last counts, as with most readers of JSON.
    private static func text(_ scanner: JSONScanner) -> JSONValue? {
        var scanner = scanner
        scanner.skipWhitespace()
        guard let aps = scanner.lastMember("aps"), aps.kind == .object else { return nil }
        scanner.position = aps.range.lowerBound
        guard let alert = scanner.lastMember("alert") else { return nil }
        if alert.kind == .string { return alert }
        guard alert.kind == .object else { return nil }
        scanner.position = alert.range.lowerBound
        guard let body = scanner.lastMember("body"), body.kind == .string else { return nil }
        return body
    }

    /// The end of the last character that ends within `room` bytes of the text as it is written.
    private static func cut(_ text: JSONValue, room: Int, _ scanner: JSONScanner) -> Int {
        let limit = text.content.lowerBound + room
        let resolved = text.hasEscapes ? scanner.unescaped(text.content) : scanner.bytes(text.content)
        var end = text.content.lowerBound
        for character in String(decoding: resolved, as: UTF8.self) {
            let next = scanner.skipText(character.utf8.count, from: end)
            guard next <= limit else { break }
            end = next
        }
        return end
    }
}

extension JSONScanner {
    /// The value of the last member with this name in the object at the cursor. Moves the cursor past the object.
    fileprivate mutating func lastMember(_ name: StaticString) -> JSONValue? {
        var found: JSONValue?
        do throws(JSONFault) {
            try self.openObject()
            var isFirst = true
            while let key = try self.nextKey(first: isFirst) {
                isFirst = false
                let value = try self.value()
                if self.isName(key, name) { found = value }
            }
        } catch {
            return nil
        }
        return found
    }

    /// Whether a key is this name, however it is written.
    package func isName(_ key: JSONValue, _ name: StaticString) -> Bool {
        guard key.hasEscapes else { return self.equals(key.content, name) }
        return name.withUTF8Buffer { self.unescaped(key.content).elementsEqual($0) }
    }

    /// The place after so many bytes of a text, where it may have escapes: each stands for one code point.
    fileprivate func skipText(_ bytes: Int, from start: Int) -> Int {
        var at = start
        var left = bytes
        while left > 0 {
            guard self.byte(at) == UInt8(ascii: "\\") else {
                at += 1
                left -= 1
                continue
            }
            guard self.byte(at + 1) == UInt8(ascii: "u") else {
                at += 2
                left -= 1
                continue
            }
            let unit = self.acceptedUnit(at + 2)
            let isPair = unit & 0xF800 == 0xD800
            at += isPair ? 12 : 6
            left -= isPair ? 4 : unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3
        }
        return at
    }
}
