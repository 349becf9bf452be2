internal import Store

/// Reads what a script answered, one value after the other.
struct ReplyCursor {
    private var elements: ArraySlice<RedisReply>

    init(_ reply: RedisReply) {
        self.elements = (reply.elements ?? [reply])[...]
    }

    var isAtEnd: Bool { self.elements.isEmpty }

    mutating func bytes() -> [UInt8]? {
        guard case .string(let bytes)? = self.elements.popFirst() else { return nil }
        return bytes
    }

    mutating func text() -> String? { self.elements.popFirst()?.text }

    mutating func integer() -> Int64? { self.elements.popFirst()?.integer }

    mutating func id() -> ResourceID? { self.bytes().flatMap { ResourceID(bytes: $0) } }

    /// A nested list.
    mutating func list() -> ReplyCursor? {
        guard let reply = self.elements.popFirst(), case .array = reply else { return nil }
        return ReplyCursor(reply)
    }

    /// Names and values to the end.
    mutating func dictionary() -> [String: String] {
        var pairs: [String: String] = [:]
        while let name = self.text(), let value = self.text() { pairs[name] = value }
        return pairs
    }
}

extension ScriptCall {
    /// How many, then names and values, in the order of names.
    mutating func add(_ pairs: [String: String]) {
        self.add(pairs.count)
        for (name, value) in pairs.sorted(by: { $0.key < $1.key }) {
            self.add(name)
            self.add(value)
        }
    }

    /// `1` and the value, or `0` and nothing.
    mutating func add(optional value: String?) {
        self.add(value == nil ? "0" : "1")
        self.add(value ?? "")
    }

    mutating func add(_ flag: Bool?) {
        self.add(flag.map { $0 ? "1" : "0" } ?? "")
    }
}
