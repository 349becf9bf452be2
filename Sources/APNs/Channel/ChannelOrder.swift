package import Push

/// What can be asked of the channel management API.
///
/// Source: Apple, "Sending channel management requests to APNs".
package enum ChannelOrder: Hashable, Sendable {
    case create(ChannelStorage)
    case read(String)
    /// Cannot be undone.
    case delete(String)
    case list

    var method: StaticString {
        switch self {
        case .create: "POST"
        case .read, .list: "GET"
        case .delete: "DELETE"
        }
    }

    /// - Parameter bundleID: without the suffix of any topic.
    func path(bundleID: String) -> String {
        self == .list ? "/1/apps/\(bundleID)/all-channels" : "/1/apps/\(bundleID)/channels"
    }

    /// The value of `apns-channel-id`.
    var channel: String? {
        switch self {
        case .read(let channel), .delete(let channel): channel
        case .create, .list: nil
        }
    }

    var body: [UInt8] {
        guard case .create(let storage) = self else { return [] }
        return Array("{\"message-storage-policy\":\(storage.rawValue),\"push-type\":\"LiveActivity\"}".utf8)
    }
}

/// What came of an order.
package enum ChannelAnswer: Hashable, Sendable {
    /// With the new channel's id.
    case created(String)
    case found(ChannelStorage)
    case deleted
    case channels([String])
}

/// Why an order was not carried out.
package enum ChannelFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no such channel in this environment.
    case unknownChannel
    /// Apple said no.
    case refused(status: Int, reason: ApnsReason?)
    /// Apple said yes, and more that cannot be read.
    case unreadable(status: Int)
    /// There was no connection: nothing was done.
    case unreachable(String)
    /// There was a connection and no answer: the order may have been carried out or not.
    case unanswered(String)

    package var description: String {
        switch self {
        case .unknownChannel: "Apple knows no such channel"
        case .refused(let status, let reason): "Apple refuses it: \(status) \(reason?.text ?? "without a reason")"
        case .unreadable(let status): "Apple's answer with status \(status) cannot be read"
        case .unreachable(let detail): "no connection: \(detail)"
        case .unanswered(let detail): "no answer, it may have been done or not: \(detail)"
        }
    }
}

extension ChannelOrder {
    /// Reads an answer.
    /// - Parameter channel: the value of `apns-channel-id`.
    func outcome(
        status: Int,
        channel: UnsafeRawBufferPointer?,
        body: UnsafeRawBufferPointer
    ) -> Result<ChannelAnswer, ChannelFailure> {
        guard (200...299).contains(status) else { return .failure(self.refusal(Reply(status: status, body: body))) }
        let answer: ChannelAnswer? =
            switch self {
            case .create: channel.map { String(decoding: $0, as: UTF8.self) }.map { .created($0) }
            case .read: ChannelReply.storage(body).map { .found($0) }
            case .delete: .deleted
            case .list: ChannelReply.channels(body).map { .channels($0) }
            }
        return answer.map { .success($0) } ?? .failure(.unreadable(status: status))
    }

    /// Apple's pages leave open whether a deletion of what is not there is answered with `ChannelNotRegistered` or with
    /// `BadPath`; both mean the same.
    private func refusal(_ reply: Reply) -> ChannelFailure {
        let isUnknown = reply.reason?.text == "ChannelNotRegistered"
        if case .delete = self, reply.status == 404, reply.reason?.text == "BadPath" { return .unknownChannel }
        return isUnknown ? .unknownChannel : .refused(status: reply.status, reason: reply.reason)
    }
}
