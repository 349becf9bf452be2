internal import Push

/// One request, taken apart; what is malformed is remembered as such, and judged later.
struct PushRequest: Sendable {
    enum Target: Equatable, Sendable {
        /// `/3/device/…`; the text behind it.
        case device(Range<Int>)
        /// `/4/broadcasts/apps/…`; the bundle id behind it.
        case broadcast(Range<Int>)
        /// The path ends where the token should be.
        case missing
        case unknown
    }

    enum Header<Value: Equatable & Sendable>: Equatable, Sendable {
        case absent
        case valid(Value)
        case malformed

        var value: Value? {
            if case .valid(let value) = self { value } else { nil }
        }
    }

    let head: RequestHead
    let body: [UInt8]
    /// Bytes of the body that was sent, of which the end may have been thrown away.
    let bodySize: Int
    let target: Target
    /// The device token's bytes; empty when the path has none or it is no even number of hexadecimal digits. Of a
    /// broadcast, the channel's id as it is.
    let token: [UInt8]
    let messageID: Header<MessageID>
    let expiration: Header<Int64>
    let priority: Header<UInt8>
    let pushType: Header<PushKind>

    init(head: RequestHead, body: [UInt8], bodySize: Int) {
        self.head = head
        self.body = body
        self.bodySize = bodySize
        self.target = Self.target(of: head)
        if case .device(let range) = self.target {
            self.token = Hex.decode(head[range]) ?? []
        } else if case .broadcast = self.target {
            self.token = head.channelID.map { Array(head[$0]) } ?? []
        } else {
            self.token = []
        }
        let id = if case .broadcast = self.target { head.requestID } else { head.messageID }
        self.messageID = Self.parse(id.map { head[$0] }) { MessageID($0) }
        self.expiration = Self.parse(head.expiration.map { head[$0] }) { Self.seconds($0) }
        self.priority = Self.parse(head.priority.map { head[$0] }) { Self.priority($0) }
        self.pushType = Self.parse(head.pushType.map { head[$0] }) { PushKind($0) }
    }

    /// The topic; empty when the header is. Of a broadcast, the bundle id in the path.
    var topic: ArraySlice<UInt8> {
        if case .broadcast(let bundleID) = self.target { return self.head[bundleID] }
        return self.head.topic.map { self.head[$0] } ?? []
    }

    var isBroadcast: Bool { if case .broadcast = self.target { true } else { false } }

    var collapseID: ArraySlice<UInt8> { self.head.collapseID.map { self.head[$0] } ?? [] }

    private static func parse<Value>(
        _ text: ArraySlice<UInt8>?,
        _ parse: (ArraySlice<UInt8>) -> Value?
    ) -> Header<Value> {
        guard let text else { return .absent }
        return parse(text).map { .valid($0) } ?? .malformed
    }

    private static func target(of head: RequestHead) -> Target {
        let path = head[head.path]
        let prefix = self.devicePrefix
        if path.count == prefix.utf8CodeUnitCount - 1 || path.count == prefix.utf8CodeUnitCount {
            let expected = UnsafeBufferPointer(start: prefix.utf8Start, count: path.count)
            return path.elementsEqual(expected) ? .missing : .unknown
        }
        let expected = UnsafeBufferPointer(start: prefix.utf8Start, count: prefix.utf8CodeUnitCount)
        guard path.starts(with: expected) else { return Self.broadcast(path) ?? .unknown }
        let token = path.dropFirst(expected.count)
        return token.contains(UInt8(ascii: "/")) ? .unknown : .device(token.startIndex..<token.endIndex)
    }

    private static func broadcast(_ path: ArraySlice<UInt8>) -> Target? {
        let prefix = "/4/broadcasts/apps/".utf8
        guard path.starts(with: prefix) else { return nil }
        let bundleID = path.dropFirst(prefix.count)
        guard !bundleID.isEmpty, !bundleID.contains(UInt8(ascii: "/")) else { return nil }
        return .broadcast(bundleID.startIndex..<bundleID.endIndex)
    }

    /// Seconds since 1970, digits only.
    private static func seconds(_ text: ArraySlice<UInt8>) -> Int64? {
        guard !text.isEmpty, text.count <= 18 else { return nil }
        var value: Int64 = 0
        for byte in text {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            value = value * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        return value
    }

    private static func priority(_ text: ArraySlice<UInt8>) -> UInt8? {
        switch (text.first, text.count) {
        case (UInt8(ascii: "1"), 1): 1
        case (UInt8(ascii: "5"), 1): 5
        case (UInt8(ascii: "1"), 2) where text.last == UInt8(ascii: "0"): 10
        default: nil
        }
    }

    private static let devicePrefix: StaticString = "/3/device/"
}
