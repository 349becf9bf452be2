internal import Push

/// A topic's policy as text, which is changed by statements and otherwise left as it was written.
package struct TopicPolicy: Equatable, Sendable {
    private let text: [UInt8]
    /// Where the statements stand in the text, and what their labels are; nil where there is none.
    private var statements: [(range: Range<Int>, label: String?)] = []
    /// The list of statements with its brackets; a single statement may stand without.
    private var list: Range<Int>?
    private var isList = false

    /// Nil for what is no JSON object.
    package init?(_ text: String) {
        self.text = Array(text.utf8)
        guard (try? self.read()) != nil else { return nil }
    }

    package static func == (left: Self, right: Self) -> Bool { left.text == right.text }

    private mutating func read() throws(JSONFault) {
        let text = self.text
        let found = try text.withUnsafeBufferPointer { (bytes) throws(JSONFault) in
            var scanner = JSONScanner(UnsafeRawBufferPointer(bytes))
            try scanner.start()
            var found: (list: Range<Int>?, isList: Bool, statements: [Range<Int>]) = (nil, false, [])
            try scanner.openObject()
            var isFirst = true
            while let key = try scanner.nextKey(first: isFirst) {
                isFirst = false
                guard scanner.equals(key.content, "Statement") else {
                    _ = try scanner.value()
                    continue
                }
                if scanner.opensObject == false {
                    let start = scanner.position
                    var statements: [Range<Int>] = []
                    try scanner.openArray()
                    var isFirst = true
                    while try scanner.nextElement(first: isFirst) {
                        isFirst = false
                        statements.append(try scanner.value().range)
                    }
                    found = (start..<scanner.position, true, statements)
                } else {
                    let value = try scanner.value()
                    found = (value.range, false, [value.range])
                }
            }
            try scanner.finish()
            return found
        }
        (self.list, self.isList) = (found.list, found.isList)
        self.statements = found.statements.map { range in
            let statement = String(decoding: text[range], as: UTF8.self)
            guard case .object(let members)? = try? JSONTree(parsing: statement),
                case .text(let label)? = members["Sid"]
            else { return (range, nil) }
            return (range, label.string)
        }
    }

    /// Whether a statement has this label.
    package func has(_ label: String) -> Bool { self.statements.contains { $0.label == label } }

    /// The policy with the permissions behind its own statements.
    package func adding(_ permissions: [TopicPermission], to topic: TopicARN) -> String {
        let added = permissions.filter { !self.has($0.label) }.map { $0.statement(topic) }
        guard !added.isEmpty else { return String(decoding: self.text, as: UTF8.self) }
        return self.replacing(self.statements.map { self.part($0.range) } + added)
    }

    /// The policy without the statements of this label.
    package func removing(_ label: String) -> String {
        self.replacing(self.statements.filter { $0.label != label }.map { self.part($0.range) })
    }

    private func part(_ range: Range<Int>) -> String { String(decoding: self.text[range], as: UTF8.self) }

    private func replacing(_ statements: [String]) -> String {
        let list = "[\(statements.joined(separator: ","))]"
        if let range = self.list {
            return self.part(0..<range.lowerBound) + list + self.part(range.upperBound..<self.text.count)
        }
        guard let end = self.text.lastIndex(of: UInt8(ascii: "}")) else { return "" }
        let before = self.part(0..<end)
        let isEmpty = before.utf8.allSatisfy { $0 <= 0x20 || $0 == UInt8(ascii: "{") }
        return before + (isEmpty ? "" : ",") + "\"Statement\":\(list)" + self.part(end..<self.text.count)
    }
}
