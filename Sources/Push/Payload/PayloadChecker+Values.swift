extension PayloadChecker {
    /// What the value should have been, completing "it must be …"; nil if it is that.
    func problem(_ value: JSONValue, _ rule: PayloadKey.Rule) -> String? {
        switch rule {
        case .alert, .sound: value.kind == .string ? nil : "a string or an object"
        case .localizable:
            value.kind == .string ? nil : self.type == .liveactivity ? "a string or an object" : "a string"
        case .string: value.kind == .string ? nil : "a string"
        case .strings: "an array of strings"
        case .object: value.kind == .object ? nil : "an object"
        case .isTrue: value.kind == .bool && value.range.count == 4 ? nil : "true"
        case .one: self.whole(value) == 1 ? nil : "the number 1, or left out"
        case .zeroOrOne: self.whole(value).map { $0 == 0 || $0 == 1 } == true ? nil : "the number 1 or 0"
        case .wholeNumber: self.whole(value).map { $0 >= 0 } == true ? nil : "a whole number from 0"
        case .fraction: self.number(value).map { (0...1).contains($0) } == true ? nil : "a number from 0 to 1"
        case .relevance:
            if self.type == .liveactivity {
                value.kind == .number ? nil : "a number"
            } else {
                self.number(value).map { (0...1).contains($0) } == true ? nil : "a number from 0 to 1"
            }
        case .seconds:
            // Beyond the year 5000 it is milliseconds.
            self.number(value).map { (0...100_000_000_000).contains($0) } == true
                ? nil : "seconds since 1970 as a number (divide milliseconds by 1000)"
        case .word(let words): self.index(of: value, in: words) != nil ? nil : Self.list(words)
        }
    }

    private static func list(_ words: [String]) -> String {
        "one of " + words.map { "\"\($0)\"" }.joined(separator: ", ")
    }

    /// Which of the words a string is.
    func index(of value: JSONValue, in words: [String]) -> Int? {
        guard value.kind == .string else { return nil }
        guard value.hasEscapes else { return words.firstIndex { self.scanner.spells(value.content, $0) } }
        let text = String(decoding: self.scanner.unescaped(value.content), as: UTF8.self)
        return words.firstIndex(of: text)
    }

    private func whole(_ value: JSONValue) -> Int64? {
        value.kind == .number ? self.scanner.integer(value.range) : nil
    }

    private func number(_ value: JSONValue) -> Double? {
        guard value.kind == .number else { return nil }
        if let whole = self.scanner.integer(value.range) { return Double(whole) }
        return Double(String(decoding: self.scanner.bytes(value.range), as: UTF8.self))
    }

    // MARK: Words about it

    mutating func reportKind(_ path: String, _ name: String, wants: String, has kind: JSONValue.Kind) {
        let fix = kind == .null ? "leave the key out instead of null" : "it is \(kind.phrase)"
        self.report(path, "\"\(name)\" must be \(wants); \(fix).")
    }

    /// Shows a number or a word, and names the kind of anything else.
    mutating func reportKind(_ path: String, _ name: String, wants: String, _ value: JSONValue) {
        switch value.kind {
        case .number:
            self.report(
                path,
                "\"\(name)\" must be \(wants); it is \(Quoted.text(self.scanner.bytes(value.range)).dropFirst().dropLast())."
            )
        case .bool where wants.hasPrefix("the number 1"):
            self.report(path, "\"\(name)\" must be \(wants); it is a boolean, and Apple wants the number.")
        case .bool where wants == "true":
            self.report(path, "\"\(name)\" must be true, or left out; it is false.")
        case .string where wants.hasPrefix("one of"):
            self.report(path, "\"\(name)\" must be \(wants); it is \(Quoted.text(self.scanner.bytes(value.content))).")
        default: self.reportKind(path, name, wants: wants, has: value.kind)
        }
    }

    mutating func reportUnknown(_ name: JSONValue, _ table: PayloadKey.Table, _ place: String) {
        let bytes = name.hasEscapes ? self.scanner.unescaped(name.content) : self.scanner.bytes(name.content)
        let quoted = Quoted.text(bytes)
        let path = "\(place).\(quoted.dropFirst().dropLast())"
        let text = String(decoding: bytes, as: UTF8.self)
        func has(_ other: PayloadKey.Table) -> Bool {
            other.name != table.name && other.keys.contains { $0.text == text }
        }
        let advice =
            if let near = EditDistance.nearest(to: bytes, among: table.keys.lazy.map(\.text)) {
                "did you mean \"\(near)\"?"
            } else if has(.aps) {
                "it belongs in \"aps\" itself."
            } else if has(.alert) {
                "it belongs in \"alert\"."
            } else {
                "put your own keys beside \"aps\"."
            }
        self.report(path, "\(quoted) is not a key that Apple knows in \"\(table.name)\"; \(advice)")
    }
}
