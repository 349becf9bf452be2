/// One request to the channel management API, taken apart.
struct ChannelRequest: Sendable {
    enum Target: Equatable, Sendable {
        /// `/1/apps/<bundle id>/channels`
        case channels(bundleID: String)
        /// `/1/apps/<bundle id>/all-channels`
        case allChannels(bundleID: String)
        case unknown
    }

    var method: String
    var target: Target
    var authorization: [UInt8]?
    var channelID: String?
    var requestID: String?
    var body: [UInt8]

    init(
        method: String,
        path: String,
        authorization: [UInt8]? = nil,
        channelID: String? = nil,
        requestID: String? = nil,
        body: [UInt8] = []
    ) {
        self.method = method
        self.target = Self.target(of: path)
        self.authorization = authorization
        self.channelID = channelID
        self.requestID = requestID
        self.body = body
    }

    private static func target(of path: String) -> Target {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == "1", parts[2] == "apps", !parts[3].isEmpty else {
            return .unknown
        }
        return switch parts[4] {
        case "channels": .channels(bundleID: String(parts[3]))
        case "all-channels": .allChannels(bundleID: String(parts[3]))
        default: .unknown
        }
    }
}

/// An answer of the channel management API.
struct ChannelAnswer: Equatable, Sendable {
    var status: UInt16
    /// `apns-channel-id`, at creation.
    var channelID: String?
    /// `apns-request-id`: the sender's own, or one in upper case.
    var requestID = ""
    var body: [UInt8] = []

    static func refused(_ reason: Reason) -> ChannelAnswer {
        ChannelAnswer(status: reason.status, body: Array("{\"reason\":\"\(reason.rawValue)\"}".utf8))
    }
}
