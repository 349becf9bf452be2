/// What Apple keeps of a channel's messages; fixed when the channel is created.
///
/// Apple, "Sending channel management requests to APNs".
package enum ChannelStorage: Int, CaseIterable, Sendable {
    /// Nothing: who is offline misses a message. Allows a higher rate, and `expires_at` 0 only.
    case none = 0
    /// The newest message, for at most eight hours.
    case newest = 1

    /// How the command line writes it.
    package var name: String {
        switch self {
        case .none: "none"
        case .newest: "newest"
        }
    }

    package init?(name: String) {
        guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = found
    }
}

/// Reads the bodies of the channel management API. Keys that it does not know are skipped.
package enum ChannelReply {
    /// `{"channels":["…"]}`; nil when it is anything else.
    package static func channels(_ body: UnsafeRawBufferPointer) -> [String]? {
        guard !body.isEmpty else { return nil }
        var scanner = JSONScanner(body)
        var channels: [String]?
        do {
            try Self.members(&scanner) { (key, scanner) throws(JSONFault) in
                guard scanner.equals(key.content, "channels") else {
                    _ = try scanner.value()
                    return
                }
                try scanner.openArray()
                var found: [String] = []
                var first = true
                var isGood = true
                while try scanner.nextElement(first: first) {
                    first = false
                    let value = try scanner.value()
                    if value.kind == .string { found.append(Self.text(value, scanner)) } else { isGood = false }
                }
                channels = isGood ? found : nil
            }
        } catch {
            return nil
        }
        return channels
    }

    /// `{"message-storage-policy":…,"push-type":…}`; nil when it is anything else.
    package static func storage(_ body: UnsafeRawBufferPointer) -> ChannelStorage? {
        guard !body.isEmpty else { return nil }
        var scanner = JSONScanner(body)
        var storage: ChannelStorage?
        do {
            try Self.members(&scanner) { (key, scanner) throws(JSONFault) in
                let value = try scanner.value()
                guard scanner.equals(key.content, "message-storage-policy"), value.kind == .number else { return }
                storage = scanner.integer(value.range).flatMap { ChannelStorage(rawValue: Int($0)) }
            }
        } catch {
            return nil
        }
        return storage
    }

    private static func members(
        _ scanner: inout JSONScanner,
        _ take: (JSONValue, inout JSONScanner) throws(JSONFault) -> Void
    ) throws(JSONFault) {
        try scanner.start()
        try scanner.openObject()
        var first = true
        while let key = try scanner.nextKey(first: first) {
            first = false
            try take(key, &scanner)
        }
        try scanner.finish()
    }

    private static func text(_ value: JSONValue, _ scanner: borrowing JSONScanner) -> String {
        let bytes = value.hasEscapes ? scanner.unescaped(value.content) : scanner.bytes(value.content)
        return String(decoding: bytes, as: UTF8.self)
    }
}
