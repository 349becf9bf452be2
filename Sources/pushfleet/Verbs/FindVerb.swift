internal import APNs
internal import ArgumentParser
internal import Desk
internal import Push
internal import Store
internal import Worker

/// `pushfleet find`: what happened to one message, or to the messages of one device.
struct FindVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "find",
        abstract: "Say what happened to a message or to a device token's last messages.",
        discussion: """
            Give the AMQP message_id of a message, or a device token (or a broadcast
            channel's id) for the newest messages to it. Workers write down every message
            when they are done with it, within a second or two; no worker has to run for
            this. It is kept for trail.keep; when trail.max_memory is used up, what went
            well at once is forgotten first.

            Tokens are not kept, only what recognises them. Give the token beside the
            message id, with --token, to see that token alone and its apns-id.

            Exit code 1 if nothing is known.

            Example:
              pushfleet find order-17
              pushfleet find order-17 --token 9f86d081884c7d65
              pushfleet find 9f86d081884c7d65 --app com.example.shop --limit 3
              pushfleet find order-17 --json | jq '.messages[].tokens[].state'
            """
    )

    @Argument(help: "A message_id, a device token in hex, or a channel's id.")
    var what: String
    @Option(help: ArgumentHelp("Only this token of the message.", valueName: "hex"))
    var token: String?
    @Option(help: "Only messages of this app.")
    var app: String?
    @Option(help: "The most messages to show for a token.")
    var limit: Int = 10
    @Flag(name: .customLong("all-tokens"), help: "Show all tokens of a message that has many.")
    var isShowingAll = false
    @OptionGroup var config: ConfigurationOption
    @Option(help: "How long to wait for each answer.", transform: Duration.argument)
    var timeout: Duration = .seconds(10)
    @OptionGroup var json: JSONFlag

    func validate() throws {
        guard !self.what.isEmpty, self.what.utf8.count <= 256 else {
            throw ValidationError("give a message_id of 1 to 255 bytes, a device token or a channel's id")
        }
        guard (1...100).contains(self.limit) else { throw ValidationError("'--limit' must be 1 to 100") }
        if let token = self.token, !Self.isToken(token) {
            throw ValidationError("'--token' is no device token: an even number of hexadecimal digits, 2 to 200")
        }
    }

    func run() async throws {
        let settings = try self.config.require([.servers]).settings
        let redis = try await settings.openRedis(for: "find", timeout: self.timeout)
        defer { redis.close() }
        let report: FindReport
        do throws(RedisFailure) {
            report = try await self.report(TrailReader(redis))
        } catch {
            throw VerbFailure("cannot read the trail in Redis: \(error)")
        }
        if self.json.isOn {
            try Terminal.print(json: report)
        } else if !report.messages.isEmpty {
            Terminal.print(report.lines(all: self.isShowingAll))
        }
        guard report.messages.isEmpty else { return }
        throw VerbFailure(report.nothing(isOn: settings.trail.isOn, app: self.app))
    }

    /// First as a message id, then as what a message was sent to.
    private func report(_ reader: TrailReader) async throws(RedisFailure) -> FindReport {
        let target = Self.isToken(self.what) ? self.what.lowercased() : self.what
        let token = self.token?.lowercased()
        let found = self.select(try await reader.find(.message(Array(self.what.utf8))))
        if !found.stories.isEmpty || token != nil {
            return FindReport(self.what, .messageID, found, token: token)
        }
        // One more than are shown, of all apps.
        let limit = self.app == nil ? self.limit : 100
        let others = self.select(try await reader.find(.token(Array(target.utf8), limit: limit)))
        return FindReport(self.what, .token, others, token: target)
    }

    private func select(_ findings: TrailSearch.Findings) -> TrailSearch.Findings {
        guard let app = self.app else { return findings }
        let stories = findings.stories.filter { $0.app == app }
        return TrailSearch.Findings(
            stories: Array(stories.prefix(self.limit)),
            coverage: findings.coverage,
            hasMore: findings.hasMore || stories.count > self.limit,
            unreadable: findings.unreadable
        )
    }

    private static func isToken(_ text: String) -> Bool {
        Array(text.utf8).withUnsafeBytes { DeviceToken.isValid($0) }
    }
}
