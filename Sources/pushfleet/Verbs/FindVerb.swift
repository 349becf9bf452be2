internal import ArgumentParser
internal import Desk
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

    private var question: FindQuestion {
        FindQuestion(self.what, token: self.token, app: self.app, limit: self.limit)
    }

    func validate() throws {
        switch self.question.fault {
        case nil: break
        case .what(let problem): throw ValidationError(problem)
        case .token(let problem): throw ValidationError("'--token' \(problem)")
        case .limit(let problem): throw ValidationError("'--limit' \(problem)")
        }
    }

    func run() async throws {
        let settings = try self.config.require([.servers]).settings
        let redis = try await settings.openRedis(for: "find", timeout: self.timeout)
        defer { redis.close() }
        let report: FindReport
        do throws(RedisFailure) {
            report = try await self.question.ask(TrailReader(redis))
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
}
