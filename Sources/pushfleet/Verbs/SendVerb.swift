internal import ArgumentParser
internal import Broker
internal import Foundation
internal import Loop
internal import Push
internal import Worker

/// `pushfleet send`: publishes messages as a backend would.
struct SendVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Publish messages as a backend would, and wait until RabbitMQ has them.",
        discussion: """
            Every message is checked against the contract first, and its payload too with
            --lint or for an app with lint: strict. It prints the id of each message that
            RabbitMQ confirmed; the exit code is 1 unless all were. With --stdin-jsonl it
            reads one body on each line, and prints a summary instead of ids.

            That RabbitMQ has a message does not mean that Apple took it. With --receipt
            the exchange pushfleet.receipts gets an event for each token once its fate is
            final.

            Example:
              pushfleet send --app com.example.shop --lane now --token 00ff… \\
                  --alert "Your order is on its way" --receipt
              pushfleet send --app com.example.shop --lane bulk \\
                  --tokens-file tokens.txt --payload-file push.json
              pushfleet send --app com.example.shop --lane now --token 00ff… \\
                  --payload '{"aps":{"badge":3}}' --dry-run
              pushfleet send --app com.example.shop --lane now --channel dHN0… \\
                  --expires-at 0 --payload-file goal.json
              generate | pushfleet send --lane bulk --stdin-jsonl --id-prefix campaign-17-
            """
    )

    @Option(help: "The app, as the configuration names it. With --stdin-jsonl the body's, if left out.")
    var app: String?
    @Option(help: "now (someone waits for it) or bulk.")
    var lane: Lane
    @Option(help: ArgumentHelp("A device token. May be repeated.", valueName: "hex"))
    var token: [String] = []
    @Option(help: ArgumentHelp("A file with one device token on each line; - is standard input.", valueName: "file"))
    var tokensFile: String?
    @Option(
        help: ArgumentHelp(
            "Instead of tokens: a broadcast channel, see pushfleet channel. Needs --expires-at; 0 stores nothing.",
            valueName: "id"
        )
    )
    var channel: String?
    @Option(help: ArgumentHelp("Show this text.", valueName: "text"))
    var alert: String?
    @Option(help: ArgumentHelp("The title above --alert.", valueName: "text"))
    var title: String?
    @Option(help: ArgumentHelp("The whole payload, forwarded to Apple byte for byte.", valueName: "json"))
    var payload: String?
    @Option(help: ArgumentHelp("A file with the whole payload; - is standard input.", valueName: "file"))
    var payloadFile: String?
    @Option(help: "alert, background, voip, … (default alert; liveactivity with --channel).")
    var pushType: String?
    @Option(help: "10, 5 or 1 (default 10, 5 for background).")
    var priority: Int?
    @Option(help: ArgumentHelp("Pushes with the same id replace each other on the device.", valueName: "id"))
    var collapseId: String?
    @Option(help: ArgumentHelp("A topic other than the one derived from app and push type.", valueName: "topic"))
    var topic: String?
    @Option(help: ArgumentHelp("When the push loses its worth: Unix seconds, a date, or +10m.", valueName: "time"))
    var expiresAt: String?
    @Option(help: ArgumentHelp("Not before this time: Unix seconds, a date, or +10m.", valueName: "time"))
    var notBefore: String?
    @Flag(help: "Ask for a receipt: one event for each token on the exchange pushfleet.receipts.")
    var receipt = false
    @Option(help: ArgumentHelp("The idempotency key; a random one if left out.", valueName: "id"))
    var messageId: String?
    @Option(help: ArgumentHelp("Number the messages: their ids are this and 1, 2, 3 …", valueName: "text"))
    var idPrefix: String?
    @Option(help: "Publish the message so many times, each with an id of its own.")
    var count = 1
    @Flag(help: "Read bodies of the contract from standard input, one on each line.")
    var stdinJsonl = false
    @Flag(help: "With --stdin-jsonl: publish every line as it is, even if it is against the contract.")
    var raw = false
    @Flag(help: "Check payloads against Apple's keys and types first, as for apps with lint: strict.")
    var lint = false
    @Flag(help: "Check and show what would be published, and publish nothing.")
    var dryRun = false
    @OptionGroup var config: ConfigurationOption
    @OptionGroup var json: JSONFlag

    /// Messages under way at once: enough to keep the broker busy, little to lose.
    private static let batch = 1000

    func validate() throws {
        if self.raw && !self.stdinJsonl { throw ValidationError("--raw is of use only with --stdin-jsonl") }
        if self.raw && self.lint { throw ValidationError("--lint checks what --raw publishes unchecked") }
        if self.raw && self.app == nil { throw ValidationError("--raw needs --app: the routing key is made of it") }
        if self.count < 1 { throw ValidationError("--count must be at least 1") }
        if self.messageId != nil && (self.count > 1 || self.stdinJsonl || self.idPrefix != nil) {
            throw ValidationError("--message-id names one message; use --id-prefix for several")
        }
        let makesBody =
            !self.token.isEmpty || self.tokensFile != nil || self.alert != nil || self.payload != nil
            || self.payloadFile != nil || self.title != nil || self.pushType != nil || self.priority != nil
            || self.channel != nil || self.collapseId != nil || self.topic != nil || self.expiresAt != nil
            || self.notBefore != nil || self.receipt
        if self.stdinJsonl {
            if makesBody || self.count > 1 {
                throw ValidationError("--stdin-jsonl takes whole bodies; leave out what would be in them, and --count")
            }
            return
        }
        if self.app == nil { throw ValidationError("--app is missing") }
        let hasTokens = !self.token.isEmpty || self.tokensFile != nil
        if !hasTokens && self.channel == nil {
            throw ValidationError("--token, --tokens-file or --channel is missing")
        }
        if hasTokens && self.channel != nil {
            throw ValidationError("--channel excludes --token and --tokens-file: send two messages")
        }
        let payloads = [self.alert, self.payload, self.payloadFile].count { $0 != nil }
        if payloads != 1 { throw ValidationError("give exactly one of --alert, --payload and --payload-file") }
        if self.title != nil && self.alert == nil { throw ValidationError("--title goes with --alert") }
        if self.tokensFile == "-" && self.payloadFile == "-" {
            throw ValidationError("standard input cannot be both tokens and payload")
        }
    }

    func run() async throws {
        let needs: ConfigurationLoader.Needs = self.dryRun ? [] : [.servers]
        let loaded = try await self.config.requireFleet(needs, for: "send", lookingFor: self.app).loaded
        let apps = loaded.settings.apps.map(\.id)
        if let app = self.app, !self.raw, !apps.contains(app) { throw VerbFailure.unknownApp(app, among: apps) }
        var source = MessageSource(
            try self.bodies(),
            app: self.app,
            lane: self.lane,
            isRaw: self.raw,
            messageID: self.messageId,
            idPrefix: self.idPrefix,
            apps: Set(apps),
            truncating: Set(loaded.settings.apps.filter { $0.fit == .truncate }.map(\.id)),
            linted: Set(loaded.settings.apps.filter { self.lint || $0.lint == .strict }.map(\.id))
        )
        if self.dryRun { return try self.rehearse(&source) }
        let broker = try await loaded.settings.openBroker(for: "send")
        let report = await self.publish(&source, broker)
        await broker.close()
        if self.json.isOn { try Terminal.print(json: report) }
        if self.stdinJsonl, !self.json.isOn { Terminal.print(report.line) }
        guard report.isComplete else { throw self.stdinJsonl ? ExitCode(1) : VerbFailure(report.line) }
    }

    private func publish(_ source: inout MessageSource, _ broker: BrokerSession) async -> SendReport {
        var report = SendReport()
        let start = MonotonicClock.now()
        var isAtEnd = false
        var nextWord = start + .seconds(2)
        while !isAtEnd {
            let toldBefore = source.rejected.count
            let batch = source.next(upTo: Self.batch)
            isAtEnd = batch.isAtEnd
            let outcomes = await Self.publish(batch.messages, broker)
            for rejected in source.rejected[toldBefore...] {
                Terminal.say((self.stdinJsonl ? "line \(rejected.line): " : "") + rejected.detail)
            }
            for (message, outcome) in zip(batch.messages, outcomes) { self.tell(message, outcome) }
            report.add(outcomes, rejected: source.rejected.count - toldBefore)
            // After a lost connection every further message would only be reported as unanswered.
            if outcomes.contains(where: \.isEndOfConnection) { break }
            if MonotonicClock.now() > nextWord, !isAtEnd {
                Terminal.say("\(report.line) …")
                nextWord = MonotonicClock.now() + .seconds(2)
            }
        }
        report.seconds = Double((MonotonicClock.now() - start).milliseconds) / 1000
        return report
    }

    private static func publish(_ messages: [Message], _ broker: BrokerSession) async -> [PublishOutcome] {
        do throws(BrokerError) {
            return try await broker.publish(messages)
        } catch {
            // Each may have arrived: nothing is known of the whole batch.
            return messages.map { _ in .unknown(.lost(error)) }
        }
    }

    private func tell(_ message: Message, _ outcome: PublishOutcome) {
        let id = String(decoding: message.properties.messageID, as: UTF8.self)
        switch outcome {
        case .confirmed:
            if !self.stdinJsonl, !self.json.isOn { Terminal.print(id) }
        case .returned:
            Terminal.say("\(id): no queue takes \(message.routingKey); run pushfleet topology declare")
        case .nacked: Terminal.say("\(id): RabbitMQ refused it; is a queue full?")
        case .unknown(.timeout): Terminal.say("\(id): RabbitMQ did not confirm in time; it may have it or not")
        case .unknown(.lost(let error)) where error.isNotFound:
            Terminal.say("\(id): there is no exchange \(message.exchange); run pushfleet topology declare")
        case .unknown(.lost(let error)): Terminal.say("\(id): RabbitMQ may have it or not: \(error)")
        case .notSent: Terminal.say("\(id): not sent")
        }
    }

    private func rehearse(_ source: inout MessageSource) throws {
        var isAtEnd = false
        while !isAtEnd {
            let batch = source.next(upTo: Self.batch)
            isAtEnd = batch.isAtEnd
            for message in batch.messages {
                Terminal.print(
                    "\(message.routingKey) \(String(decoding: message.properties.messageID, as: UTF8.self)) "
                        + "\(String(decoding: message.body, as: UTF8.self))"
                )
            }
        }
        for rejected in source.rejected {
            Terminal.say((self.stdinJsonl ? "line \(rejected.line): " : "") + rejected.detail)
        }
        guard source.rejected.isEmpty else { throw ExitCode(1) }
    }

    private func bodies() throws -> MessageSource.Bodies {
        guard !self.stdinJsonl else { return .lines(LineReader(descriptor: STDIN_FILENO)) }
        do throws(ValueFault) {
            var draft = MessageDraft(app: self.app ?? "", tokens: self.token, payload: "")
            draft.channel = self.channel
            if let file = self.tokensFile { draft.tokens += MessageDraft.tokens(inLines: try Self.read(file)) }
            draft.payload =
                if let alert = self.alert {
                    MessageDraft.alert(alert, title: self.title)
                } else if let payload = self.payload {
                    payload
                } else {
                    try Self.read(self.payloadFile ?? "-").trimmingCharacters(in: .whitespacesAndNewlines)
                }
            draft.pushType = self.pushType
            draft.priority = self.priority
            draft.collapseID = self.collapseId
            draft.topic = self.topic
            draft.wantsReceipt = self.receipt
            let now = WallClock.now().seconds
            draft.expiresAt = try self.expiresAt.map { text throws(ValueFault) in try Self.time(text, now: now) }
            draft.notBefore = try self.notBefore.map { text throws(ValueFault) in try Self.time(text, now: now) }
            return .repeated(draft.body, self.count)
        } catch {
            throw ValidationError(error.phrase)
        }
    }

    private static func time(_ text: String, now: Int64) throws(ValueFault) -> Int64 {
        do throws(ValueFault) {
            return try MessageDraft.time(text, now: now)
        } catch {
            throw ValueFault(phrase: "'\(text)' \(error.phrase)")
        }
    }

    /// The text of a file, or of standard input for `-`.
    private static func read(_ file: String) throws(ValueFault) -> String {
        do throws(ValueFault) {
            guard file == "-" else { return try ConfigurationLoader.read(file) }
            guard let data = try? FileHandle.standardInput.readToEnd() else { return "" }
            guard let text = String(validating: data, as: UTF8.self) else {
                throw ValueFault(phrase: "cannot be read: it is not UTF-8 text")
            }
            return text
        } catch {
            throw ValueFault(phrase: "\(file == "-" ? "standard input" : file) \(error.phrase)")
        }
    }
}

extension PublishOutcome {
    /// Whether every further message would fare the same.
    fileprivate var isEndOfConnection: Bool {
        switch self {
        case .confirmed, .nacked, .returned: false
        case .unknown, .notSent: true
        }
    }
}

extension Lane: ExpressibleByArgument {}
