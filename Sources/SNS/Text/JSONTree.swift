package import Push

/// A JSON value with everything in it, for filters and for messages of structure `json`. Duplicate keys are allowed; the last
/// counts.
package indirect enum JSONTree: Equatable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case text(ExactText)
    case array([JSONTree])
    case object([ExactText: JSONTree])

    /// Throws for what is not one JSON text (RFC 8259).
    package init(parsing text: String) throws(JSONFault) {
        self = try Array(text.utf8).withUnsafeBufferPointer { (bytes) throws(JSONFault) in
            var scanner = JSONScanner(UnsafeRawBufferPointer(bytes))
            try scanner.start()
            let tree = try Self.read(&scanner)
            try scanner.finish()
            return tree
        }
    }

    /// Recurses as deep as the scanner's limit.
    private static func read(_ scanner: inout JSONScanner) throws(JSONFault) -> JSONTree {
        if let isObject = scanner.opensObject {
            return isObject ? try Self.object(&scanner) : try Self.array(&scanner)
        }
        let value = try scanner.value()
        switch value.kind {
        case .string: return .text(Self.text(value, scanner))
        case .number: return .number(Self.number(String(decoding: scanner.bytes(value.range), as: UTF8.self)) ?? 0)
        case .bool: return .bool(scanner.equals(value.range, "true"))
        case .null, .array, .object: return .null
        }
    }

    private static func object(_ scanner: inout JSONScanner) throws(JSONFault) -> JSONTree {
        var members: [ExactText: JSONTree] = [:]
        try scanner.openObject()
        var isFirst = true
        while let key = try scanner.nextKey(first: isFirst) {
            isFirst = false
            members[Self.text(key, scanner)] = try Self.read(&scanner)
        }
        return .object(members)
    }

    private static func array(_ scanner: inout JSONScanner) throws(JSONFault) -> JSONTree {
        var elements: [JSONTree] = []
        try scanner.openArray()
        var isFirst = true
        while try scanner.nextElement(first: isFirst) {
            isFirst = false
            elements.append(try Self.read(&scanner))
        }
        return .array(elements)
    }

    private static func text(_ value: JSONValue, _ scanner: JSONScanner) -> ExactText {
        let bytes = value.hasEscapes ? scanner.unescaped(value.content) : scanner.bytes(value.content)
        return ExactText(String(decoding: bytes, as: UTF8.self))
    }

    /// The number that a text is as a whole, in JSON's grammar; nil for any other text.
    static func number(_ text: String) -> Double? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }),
            let number = Double(text), number.isFinite
        else { return nil }
        return number
    }
}

/// Text that is the same only byte for byte: for Swift's own strings, é is é in every normal form.
package struct ExactText: Hashable, Sendable, ExpressibleByStringLiteral {
    package let string: String

    package init(_ string: String) {
        self.string = string
    }

    package init(stringLiteral: String) {
        self.string = stringLiteral
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.string.utf8.count == right.string.utf8.count && left.string.utf8.elementsEqual(right.string.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        var string = self.string
        string.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
