/// An answer of APNs to one request.
package struct Reply: Equatable, Sendable {
    /// The HTTP status.
    package var status: Int

    /// Nil if the answer had no readable reason: then the status alone decides.
    package var reason: ApnsReason?

    /// With a 410, when APNs last found the token invalid for the topic.
    package var timestamp: UnixTime?

    /// From a `Retry-After` header, if one ever comes: no Apple page promises it.
    package var retryAfter: Duration?

    package init(
        status: Int,
        reason: ApnsReason? = nil,
        timestamp: UnixTime? = nil,
        retryAfter: Duration? = nil
    ) {
        self.status = status
        self.reason = reason
        self.timestamp = timestamp
        self.retryAfter = retryAfter
    }

    /// Reads `{"reason": "…", "timestamp": ms}`. Anything else, whatever it is, gives neither reason nor time.
    ///
    /// The last of repeated keys counts. A time outside 1970 to 2200 is dropped.
    package init(status: Int, body: UnsafeRawBufferPointer, retryAfter: Duration? = nil) {
        self.init(status: status, retryAfter: retryAfter)
        if !body.isEmpty { (self.reason, self.timestamp) = Self.read(body) }
    }

    /// The reason in the debug data of a GOAWAY frame, which may be JSON, plain text or nothing.
    package static func reason(inDebugData data: UnsafeRawBufferPointer) -> ApnsReason? { Self.read(data).reason }

    /// The name under which counters count it; bounded.
    package var counterName: String { self.reason?.counterName ?? "none" }

    private static func read(_ body: UnsafeRawBufferPointer) -> (reason: ApnsReason?, timestamp: UnixTime?) {
        var scanner = JSONScanner(body)
        var reason: ApnsReason?
        var timestamp: UnixTime?
        do {
            try scanner.start()
            try scanner.openObject()
            var first = true
            while let key = try scanner.nextKey(first: first) {
                first = false
                let value = try scanner.value()
                if scanner.equals(key.content, "reason"), value.kind == .string {
                    reason =
                        value.hasEscapes
                        ? ApnsReason(scanner.unescaped(value.content)) : ApnsReason(scanner.bytes(value.content))
                } else if scanner.equals(key.content, "timestamp"), value.kind == .number {
                    timestamp = scanner.integer(value.range).flatMap {
                        Contract.unixSeconds.contains($0 / 1000) && $0 >= 0 ? UnixTime(milliseconds: $0) : nil
                    }
                }
            }
            try scanner.finish()
            return (reason, timestamp)
        } catch {
            return (nil, nil)
        }
    }
}
