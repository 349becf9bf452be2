extension EnvelopeReader {
    mutating func readTokens() throws(JSONFault) {
        let start = self.scanner.position
        guard start < self.scanner.count, self.scanner.byte(start) == UInt8(ascii: "[") else {
            let value = try self.scanner.value()
            let fix = value.kind == .string ? "put the token in [ ]" : "it is \(value.kind.phrase)"
            return self.refuse(.field(.tokens, "\"tokens\" must be an array of strings; \(fix)."))
        }
        try self.scanner.openArray()
        self.parts.tokens = TokenList()
        var count = 0
        while try self.scanner.nextElement(first: count == 0) {
            count += 1
            if let token = self.scanner.hexString(Contract.tokenDigits) {
                // Beyond the limit the message is refused, so nothing more need be kept.
                if count <= Contract.tokenLimit { self.parts.tokens.append(ByteSlice(token)) }
                continue
            }
            let value = try self.scanner.value()
            if self.fault == nil { self.fault = self.tokenFault(value, number: count) }
        }
        self.parts.tokensRange = start..<self.scanner.position
        if count == 0 {
            self.refuse(.field(.tokens, "\"tokens\" is empty; give at least one device token."))
        } else if count > Contract.tokenLimit {
            self.refuse(
                .field(
                    .tokens,
                    "\"tokens\" has \(count) entries; the limit is \(Contract.tokenLimit). Publish several messages."
                )
            )
        }
    }

    func tokenFault(_ value: JSONValue, number: Int) -> Refusal {
        guard value.kind == .string else {
            return .field(.tokens, "\"tokens\": entry \(number) must be a string; it is \(value.kind.phrase).")
        }
        let count = value.content.count
        let fault =
            if count == 0 {
                "is empty"
            } else if count > Contract.tokenDigits.upperBound {
                "has \(count) characters; a token has at most \(Contract.tokenDigits.upperBound)"
            } else if self.scanner.bytes(value.content).contains(where: { Hex.value($0) == nil }) {
                "holds a character that is not a hexadecimal digit; write the token's bytes as plain hex"
            } else {
                "has \(count) digits; hexadecimal needs an even number"
            }
        return .field(.tokens, "\"tokens\": entry \(number) \(fault).")
    }
}
