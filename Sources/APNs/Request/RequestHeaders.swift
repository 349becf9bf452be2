internal import HTTP2
package import Push

/// The header fields of pushes, built in one buffer that is used again for every request of a credential.
///
/// Apple's "Establishing a connection to APNs" says what HPACK may keep: the path and the values that are new in every
/// request never enter its table, those that repeat on a connection do, the provider token among them.
package final class RequestHeaders {
    private let block = HeaderBlock()
    private let common: Int
    private let path = UnsafeMutableRawBufferPointer.allocate(byteCount: Contract.addressBuffer, alignment: 8)

    package init() {
        self.block.append(Name.method, "POST")
        self.common = self.block.count
        Self.prefix.withUTF8Buffer { self.path.copyBytes(from: $0) }
    }

    deinit {
        self.path.deallocate()
    }

    /// Fills in the fields of one push: `apns-id`, type, priority, topic, expiration and collapse id. The
    /// authorization is the connection's and comes with `submit`.
    /// - Parameter topic: the derived topic; the message's own goes before it. For a broadcast the bundle id, which
    ///   then stands in the path.
    package func fill(_ job: Job, token: Int, id: ApnsID, topic: [UInt8]) {
        self.block.cut(to: self.common)
        guard !job.isBroadcast else { return self.fillBroadcast(job, id: id, bundleID: topic) }
        let prefix = Self.prefix.utf8CodeUnitCount
        let digits = job.writeToken(token, to: UnsafeMutableRawBufferPointer(rebasing: self.path[prefix...]))
        self.block.append(Name.path, UnsafeRawBufferPointer(rebasing: self.path[..<(prefix + digits)]))
        id.text.span.withUnsafeBytes { self.block.append(Name.id, $0) }
        job.withTopicOverride { override in
            if override.isEmpty {
                self.block.append(Name.topic, topic)
            } else {
                self.block.append(Name.topic, override)
            }
        }
        self.block.append(Name.pushType, job.pushType.rawValue)
        self.block.append(Name.priority, Int(job.priority.rawValue))
        if let expiration = job.expiresAt { self.block.append(Name.expiration, Int(expiration.seconds)) }
        job.withCollapseID { collapse in
            if !collapse.isEmpty { self.block.append(Name.collapseID, collapse) }
        }
    }

    /// Apple, "Sending broadcast push notification requests to APNs": the bundle id without a suffix is in the path,
    /// there is no topic, and expiration and priority are required.
    private func fillBroadcast(_ job: Job, id: ApnsID, bundleID: [UInt8]) {
        self.block.append(Name.path, Self.broadcastPrefix + bundleID)
        id.text.span.withUnsafeBytes { self.block.append(Name.requestID, $0) }
        job.withChannelID { self.block.append(Name.channelID, $0) }
        self.block.append(Name.pushType, job.pushType.rawValue)
        self.block.append(Name.priority, Int(job.priority.rawValue))
        self.block.append(Name.expiration, job.expiresAt.map { Int($0.seconds) } ?? 0)
    }

    /// Sends what was filled in, once.
    func submit(
        on client: HTTP2Client,
        authorization: Authorization,
        body: [UInt8],
        payload: Range<Int>,
        context: UInt64
    ) {
        if !authorization.value.isEmpty { self.block.append(Name.authorization, authorization.value) }
        client.submit(self.block, body: Body(body, payload), context: context)
    }

    private static let prefix: StaticString = "/3/device/"
    private static let broadcastPrefix = Array("/4/broadcasts/apps/".utf8)

    private enum Name {
        static let method = HeaderName(":method")
        static let path = HeaderName(":path", .none)
        static let authorization = HeaderName("authorization")
        static let id = HeaderName("apns-id", .nameOnly)
        static let requestID = HeaderName("apns-request-id", .nameOnly)
        static let channelID = HeaderName("apns-channel-id")
        static let topic = HeaderName("apns-topic")
        static let pushType = HeaderName("apns-push-type")
        static let priority = HeaderName("apns-priority")
        static let expiration = HeaderName("apns-expiration", .nameOnly)
        static let collapseID = HeaderName("apns-collapse-id", .nameOnly)
    }
}
