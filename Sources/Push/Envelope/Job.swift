/// A message that passed the contract: the body as it came, and where in it everything lies.
///
/// Nothing is copied out of the body but two numbers. Texts are given as bytes to a closure, so that they can go
/// straight into a header block. A job knows nothing of the delivery it came with.
///
/// An object, since many look at it on the way of a push and each would copy a value of this size.
package final class Job: Sendable {
    /// The body, byte for byte as it was published.
    package let body: [UInt8]

    package let pushType: PushType

    /// The message's priority, or the push type's default.
    package let priority: Priority

    /// When the push loses its worth, in whole seconds. Zero milliseconds means "do not store"; nil means unset.
    package let expiresAt: UnixTime?

    /// Before this time the push must not be sent.
    package let notBefore: UnixTime?

    /// Whether the publisher wants to be told what became of each token.
    package let wantsReceipt: Bool

    /// What is sent is a part of this: the body itself, or the payload whose text was shortened.
    package var outgoing: [UInt8] { self.shortened ?? self.body }

    private let shortened: [UInt8]?

    /// Where in ``outgoing`` the payload lies; forwarded as it is.
    package let payload: Range<Int>

    /// Whether the text of the payload was shortened so that it fits. The body keeps all of it.
    package var isTruncated: Bool { self.shortened != nil }

    /// The value of `tokens`, with both brackets; empty for a broadcast.
    package let tokensRange: Range<Int>

    /// Tokens that stood in the list more than once, counted once for each time too many.
    package let repeatedTokens: Int

    private let tokens: TokenList
    private let channel: Text
    private let app: Text
    private let topic: Text
    private let collapse: Text

    /// Texts that were written with escapes, resolved. Almost always empty.
    private let resolved: [UInt8]

    /// A short text of the body: a slice of it, or of the resolved texts if it was written with escapes. Absent ones
    /// are empty: no text of the contract may be.
    struct Text: Sendable {
        var slice = ByteSlice.empty
        var isResolved = false
    }

    /// What the reader has found.
    struct Parts {
        var pushType = PushType.alert
        var priority: Priority?
        var expiresAt: UnixTime?
        var notBefore: UnixTime?
        var wantsReceipt = false
        var payload = 0..<0
        var shortened: [UInt8]?
        var tokensRange = 0..<0
        var repeatedTokens = 0
        var tokens = TokenList()
        var channel = Text()
        var app = Text()
        var topic = Text()
        var collapse = Text()
        var resolved: [UInt8] = []
    }

    init(body: [UInt8], _ parts: consuming Parts) {
        self.body = body
        self.pushType = parts.pushType
        self.priority = parts.priority ?? parts.pushType.defaultPriority
        self.expiresAt = parts.expiresAt
        self.notBefore = parts.notBefore
        self.wantsReceipt = parts.wantsReceipt
        self.shortened = parts.shortened
        self.payload = parts.shortened?.indices ?? parts.payload
        self.tokensRange = parts.tokensRange
        self.repeatedTokens = parts.repeatedTokens
        self.tokens = parts.tokens
        self.channel = parts.channel
        self.app = parts.app
        self.topic = parts.topic
        self.collapse = parts.collapse
        self.resolved = parts.resolved
    }

    // MARK: Texts

    /// The app's name.
    package var appName: String { self.string(self.app)! }

    /// Whether the message is for this app. Builds no string.
    package func isAddressed(to app: AppID) -> Bool {
        var name = app.name
        return self.withBytes(self.app) { mine in
            name.withUTF8 { its in mine.count == its.count && mine.indices.allSatisfy { mine[$0] == its[$0] } }
        }
    }

    /// The explicit topic, which goes before the derived one.
    package var topicOverride: String? { self.string(self.topic) }

    /// Gives the bytes of the explicit topic; an empty buffer if there is none.
    package func withTopicOverride<Value>(_ use: (UnsafeRawBufferPointer) -> Value) -> Value {
        self.withBytes(self.topic, use)
    }

    /// The collapse id.
    package var collapseID: String? { self.string(self.collapse) }

    /// Gives the bytes of the collapse id; an empty buffer if there is none.
    package func withCollapseID<Value>(_ use: (UnsafeRawBufferPointer) -> Value) -> Value {
        self.withBytes(self.collapse, use)
    }

    /// Gives the bytes of the payload as it is sent.
    package func withPayload<Value>(_ use: (UnsafeRawBufferPointer) -> Value) -> Value {
        self.outgoing.withUnsafeBytes { use(UnsafeRawBufferPointer(rebasing: $0[self.payload])) }
    }

    private func withBytes<Value>(_ text: Text, _ use: (UnsafeRawBufferPointer) -> Value) -> Value {
        (text.isResolved ? self.resolved : self.body).withUnsafeBytes {
            use(UnsafeRawBufferPointer(rebasing: $0[text.slice.range]))
        }
    }

    private func string(_ text: Text) -> String? {
        text.slice.count == 0 ? nil : self.withBytes(text) { String(decoding: $0, as: UTF8.self) }
    }

    // MARK: Channel

    /// Whether the message goes to a channel. A broadcast counts as one token everywhere: the channel's id stands where
    /// a token's digits would.
    package var isBroadcast: Bool { self.channel.slice.count > 0 }

    /// The channel's id.
    package var channelID: String? { self.string(self.channel) }

    /// Gives the bytes of the channel's id; an empty buffer if the message goes to devices.
    package func withChannelID<Value>(_ use: (UnsafeRawBufferPointer) -> Value) -> Value {
        self.withBytes(self.channel, use)
    }

    // MARK: Tokens

    /// How many different tokens the message has, 1 to 1000; 1 for a broadcast.
    package var tokenCount: Int { self.isBroadcast ? 1 : self.tokens.count }

    /// Where the digits of a token lie in the body, as they were written.
    /// - Precondition: the message is no broadcast.
    package func tokenRange(_ index: Int) -> Range<Int> { self.tokens[index].range }

    /// Appends a token's digits in lower case: its identity, and what goes into `:path`. For a broadcast, the channel's
    /// id as it is.
    package func appendToken(_ index: Int, to bytes: inout [UInt8]) {
        guard !self.isBroadcast else { return self.withChannelID { bytes.append(contentsOf: $0) } }
        for byte in self.body[self.tokens[index].range] { bytes.append(Hex.lowercased(byte)) }
    }

    /// Writes a token's digits in lower case and tells how many there were, at most 400. For a broadcast, the channel's
    /// id as it is, at most 256 bytes.
    ///
    /// - Parameter buffer: must have room for the token; a shorter one is a bug of the caller.
    @discardableResult
    package func writeToken(_ index: Int, to buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard !self.isBroadcast else {
            return self.withChannelID {
                buffer.copyMemory(from: $0)
                return $0.count
            }
        }
        let slice = self.tokens[index]
        let count = Int(slice.count)
        precondition(buffer.count >= count, "no room for a token of \(count) digits")
        self.body.withUnsafeBytes { body in
            for offset in 0..<count { buffer[offset] = Hex.lowercased(body[Int(slice.start) + offset]) }
        }
        return count
    }

    /// A token's digits in lower case, or the channel's id. For what is told to users, never for logs.
    package func token(_ index: Int) -> String {
        if let channel = self.channelID { return channel }
        let slice = self.tokens[index]
        return String(unsafeUninitializedCapacity: Int(slice.count)) {
            self.writeToken(index, to: UnsafeMutableRawBufferPointer($0))
        }
    }

    /// A token as logs may show it.
    package func redactedToken(_ index: Int) -> String { DeviceToken.redacted(self.token(index)) }

    /// The body with only these tokens, in this order; every byte outside the list stays as it is.
    package func body(withTokens indices: some Collection<Int>) -> [UInt8] {
        precondition(!indices.isEmpty, "a message without tokens is no message")
        guard !self.isBroadcast else { return self.body }
        var copy: [UInt8] = []
        copy.reserveCapacity(self.body.count)
        copy.append(contentsOf: self.body[..<self.tokensRange.lowerBound])
        copy.append(UInt8(ascii: "["))
        var isFirst = true
        for index in indices {
            if !isFirst { copy.append(UInt8(ascii: ",")) }
            isFirst = false
            let digits = self.tokens[index].range
            copy.append(contentsOf: self.body[digits.lowerBound - 1...digits.upperBound])
        }
        copy.append(UInt8(ascii: "]"))
        copy.append(contentsOf: self.body[self.tokensRange.upperBound...])
        return copy
    }
}
