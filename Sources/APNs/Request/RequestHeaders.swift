internal import HTTP2
package import Push

/// The header fields of pushes, built in one buffer that is used again for every request of a credential.
///
/// Apple's "Establishing a connection to APNs" says what HPACK may keep: the path and the values that are new in every
/// request never enter its table, those that repeat on a connection do, the provider token among them.
package struct RequestHeaders {
    private var list = HeaderList()
    private let common: Int
    /// `bearer …`; changes when the provider token does.
    private var authorization: [UInt8] = []
    private var path: [UInt8] = []

    /// - Parameter host: Apple's host, `:authority` of every request.
    package init(host: String) {
        self.list.append(":method", "POST", .incremental)
        self.list.append(":scheme", "https", .incremental)
        self.list.append(":authority", host, .incremental)
        self.common = self.list.count
    }

    /// Sends with this provider token from now on.
    package mutating func use(_ token: ProviderToken) {
        self.authorization = Array("bearer \(token.text)".utf8)
    }

    /// Fills in the fields of one push: `apns-id`, type, priority, topic, expiration and collapse id.
    /// - Parameter topic: the derived topic; the message's own goes before it.
    package mutating func fill(_ job: Job, token: Int, id: ApnsID, topic: [UInt8]) {
        self.list.removeAll(after: self.common)
        self.path.removeAll(keepingCapacity: true)
        self.path.append(contentsOf: "/3/device/".utf8)
        job.appendToken(token, to: &self.path)
        self.list.append(":path", self.path, .never)
        self.list.append("authorization", self.authorization, .incremental)
        id.text.span.withUnsafeBufferPointer { self.list.append("apns-id", $0, .never) }
        job.withTopicOverride { override in
            if override.isEmpty {
                self.list.append("apns-topic", topic, .incremental)
            } else {
                self.list.append("apns-topic", override, .incremental)
            }
        }
        self.list.append("apns-push-type", job.pushType.rawValue, .incremental)
        switch job.priority {
        case .immediate: self.list.append("apns-priority", "10", .incremental)
        case .considerate: self.list.append("apns-priority", "5", .incremental)
        case .powerFirst: self.list.append("apns-priority", "1", .incremental)
        }
        if let expiration = job.expiresAt {
            self.list.append("apns-expiration", String(expiration.seconds), .never)
        }
        job.withCollapseID { collapse in
            if !collapse.isEmpty { self.list.append("apns-collapse-id", collapse, .never) }
        }
    }

    func submit(on client: HTTP2Client, body: [UInt8], payload: Range<Int>, context: UInt64) {
        client.submit(self.list, body: body, range: payload, context: context)
    }
}
