/// One pass over a body: checks all of it as JSON and each contract field as it comes by.
///
/// A field at fault does not end the pass, since text that is not JSON further on is the more basic fault.
struct EnvelopeReader {
    var scanner: JSONScanner
    var parts = Job.Parts()
    var seen: UInt16 = 0
    var fault: Refusal?
    var unsupportedVersion: Refusal?

    private let fit: PayloadFit

    init(_ bytes: UnsafeRawBufferPointer, fit: PayloadFit) {
        self.scanner = JSONScanner(bytes)
        self.fit = fit
    }

    mutating func read() throws(Refusal) -> Job.Parts {
        let isObject: Bool
        do {
            isObject = try self.scan()
        } catch {
            throw Refusal(error)
        }
        guard isObject else {
            throw Refusal(.notAnObject, "The body is JSON but not an object; wrap it in { }.")
        }
        if let unsupportedVersion { throw unsupportedVersion }
        if let fault { throw fault }
        try self.checkWhole()
        return self.parts
    }

    mutating func scan() throws(JSONFault) -> Bool {
        try self.scanner.start()
        guard self.scanner.position < self.scanner.count else {
            throw JSONFault(.unexpectedEnd, at: self.scanner.count)
        }
        guard self.scanner.byte(self.scanner.position) == UInt8(ascii: "{") else {
            _ = try self.scanner.value()
            try self.scanner.finish()
            return false
        }
        try self.scanner.openObject()
        var first = true
        while let key = try self.scanner.nextKey(first: first) {
            first = false
            try self.member(key)
        }
        try self.scanner.finish()
        return true
    }

    mutating func member(_ key: JSONValue) throws(JSONFault) {
        let field = self.field(key)
        // After a fault only the grammar and the version can matter, and faults without number must stay cheap.
        guard let field, self.fault == nil || field == .version else {
            if self.fault == nil { self.refuseUnknown(key) }
            _ = try self.scanner.value()
            return
        }
        if self.seen & field.bit != 0 {
            self.refuse(
                Refusal(
                    .duplicateField,
                    field: field.rawValue,
                    "\"\(field.rawValue)\" stands in the body more than once; keep one."
                )
            )
        }
        self.seen |= field.bit
        if field == .tokens {
            try self.readTokens()
            return
        }
        let value = try self.scanner.value()
        switch field {
        case .version: self.readVersion(value)
        case .app: self.readApp(value)
        case .tokens: break
        case .channel: self.readChannel(value)
        case .pushType: self.readPushType(value)
        case .priority: self.readPriority(value)
        case .collapseID: self.readCollapseID(value)
        case .topic: self.readTopic(value)
        case .expiresAt: self.parts.expiresAt = self.readTime(value, .expiresAt)
        case .notBefore: self.parts.notBefore = self.readTime(value, .notBefore)
        case .receipt: self.readReceipt(value)
        case .payload:
            self.parts.payload = value.range
            if value.kind != .object {
                self.refuse(.wrongKind(.payload, wants: "a JSON object", has: value.kind))
            }
        }
    }

    func field(_ key: JSONValue) -> EnvelopeField? {
        guard key.hasEscapes else { return EnvelopeField.named(key.content, in: self.scanner) }
        return EnvelopeField(rawValue: String(decoding: self.scanner.unescaped(key.content), as: UTF8.self))
    }

    /// Keeps the first fault.
    mutating func refuse(_ refusal: Refusal) {
        if self.fault == nil { self.fault = refusal }
    }

    mutating func refuseUnknown(_ key: JSONValue) {
        let name = key.hasEscapes ? self.scanner.unescaped(key.content) : self.scanner.bytes(key.content)
        let quoted = Quoted.text(name)
        let advice =
            if let near = EditDistance.nearest(to: name, among: EnvelopeField.allCases.lazy.map(\.rawValue)) {
                "did you mean \"\(near)\"?"
            } else {
                "put your own keys inside \"payload\"."
            }
        let printable = String(quoted.dropFirst().dropLast())
        self.refuse(Refusal(.unknownField, field: printable, "\(quoted) is not a key of the message; \(advice)"))
    }

    // MARK: The whole

    mutating func checkWhole() throws(Refusal) {
        let isBroadcast = self.seen & EnvelopeField.channel.bit != 0
        if isBroadcast { try self.checkBroadcast() }
        let tokens = isBroadcast ? 0 : EnvelopeField.tokens.bit
        let required = EnvelopeField.app.bit | tokens | EnvelopeField.payload.bit
        if self.seen & required != required {
            let seen = self.seen
            let field: EnvelopeField = [.app, .tokens, .payload].first { required & ~seen & $0.bit != 0 } ?? .app
            let advice = field == .tokens ? "give device tokens, or a \"channel\" instead" : "it is required"
            throw Refusal(.missingField, field: field.rawValue, "\"\(field.rawValue)\" is missing; \(advice).")
        }
        try self.checkType(self.parts.pushType.rules, isBroadcast: isBroadcast)
        self.parts.repeatedTokens = self.parts.tokens.removeRepetitions(in: self.scanner.base)
    }

    /// What depends on the push type, which may stand anywhere in the body.
    mutating func checkType(_ rules: PushTypeRules, isBroadcast: Bool) throws(Refusal) {
        let type = self.parts.pushType.rawValue
        if let priority = self.parts.priority, rules.refusedPriorities.contains(priority) {
            throw .field(
                .priority,
                "\"priority\" is \(priority.rawValue), which Apple calls an error for \(type); use "
                    + "\(rules.priorities.phrase), or leave it out."
            )
        }
        let size = self.parts.payload.count
        let limit = isBroadcast ? Contract.broadcastPayloadLimit : rules.payloadLimit
        guard size > limit else { return }
        if self.fit == .truncate {
            let payload = UnsafeRawBufferPointer(
                start: self.scanner.base + self.parts.payload.lowerBound,
                count: size
            )
            self.parts.shortened = PayloadTruncation.shortened(payload, to: limit)
        }
        guard self.parts.shortened == nil else { return }
        throw Refusal(
            .payloadTooLarge,
            field: EnvelopeField.payload.rawValue,
            "\"payload\" has \(size) bytes as UTF-8; the limit for \(isBroadcast ? "a channel" : type) is \(limit)"
                + (self.fit == .truncate ? " even without the alert's text." : ".")
        )
    }
}
