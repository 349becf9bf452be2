internal import Push

/// A body as it may be shown to whoever does not need whole device tokens.
package enum MaskedTokens {
    /// Runs of hexadecimal digits that are a token or may be one, wherever they stand, shortened as in logs. Within the
    /// list of a message's tokens every one is, however short.
    package static func body(_ body: [UInt8]) -> [UInt8] {
        let job = try? EnvelopeDecoder.decode(body: body, fit: .truncate)
        let list = job.map { $0.isBroadcast ? 0..<0 : $0.tokensRange } ?? 0..<0
        var masked: [UInt8] = []
        masked.reserveCapacity(body.count)
        var index = 0
        while index < body.count {
            guard Hex.value(body[index]) != nil else {
                masked.append(body[index])
                index += 1
                continue
            }
            var end = index
            while end < body.count, Hex.value(body[end]) != nil { end += 1 }
            if end - index >= 16 || list.contains(index) {
                masked += Array(DeviceToken.redacted(String(decoding: body[index..<end], as: UTF8.self)).utf8)
            } else {
                masked += body[index..<end]
            }
            index = end
        }
        return masked
    }
}
