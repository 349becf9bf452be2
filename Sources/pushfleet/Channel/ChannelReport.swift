internal import Push
internal import Worker

/// What is told of one channel.
struct ChannelReport: Encodable, Equatable {
    let app: String
    let bundleId: String
    let environment: String
    let channel: String
    /// `none` or `newest`; nil when it was not asked.
    let storage: String?

    init(app: String, bundleId: String, environment: String, channel: String, storage: ChannelStorage?) {
        self.app = app
        self.bundleId = bundleId
        self.environment = environment
        self.channel = channel
        self.storage = storage?.name
    }

    init(_ access: ChannelAccess, channel: String, storage: ChannelStorage?) {
        self.init(
            app: access.app.id,
            bundleId: access.app.bundleID,
            environment: access.credential.environment.rawValue,
            channel: channel,
            storage: storage
        )
    }

    var lines: [String] {
        var table = Table("channel", "bundle id", "environment", "stores")
        table.add(self.channel, self.bundleId, self.environment, self.storage ?? "")
        return table.lines()
    }
}

/// What is told of an app's channels.
struct ChannelListReport: Encodable, Equatable {
    let app: String
    let bundleId: String
    let environment: String
    let channels: [String]

    init(_ access: ChannelAccess, channels: [String]) {
        self.app = access.app.id
        self.bundleId = access.app.bundleID
        self.environment = access.credential.environment.rawValue
        self.channels = channels
    }

    var line: String {
        let count = self.channels.count
        return "\(count) channel\(count == 1 ? "" : "s") of \(self.bundleId) in \(self.environment)"
    }
}
