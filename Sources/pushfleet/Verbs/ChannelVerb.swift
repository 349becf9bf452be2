internal import APNs
internal import ArgumentParser
internal import Foundation
internal import Push
internal import Worker

/// `pushfleet channel`: the broadcast channels of an app, at Apple.
struct ChannelVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "channel",
        abstract: "Create, show, list and delete an app's broadcast channels at Apple.",
        discussion: """
            A channel carries one Live Activity to everyone who follows it (iOS 18): a
            match, a flight. Create one, hand its id to the app, which subscribes to it,
            and publish messages with "channel" instead of "tokens".

            An app may have 10,000 channels in each environment; the two environments share
            none. Whether Apple stores the newest message for those who are offline is
            decided at creation and stays:
              none     nothing is stored; higher rate; messages need expires_at 0
              newest   the newest message is kept for at most 8 hours

            Apple's hosts for this are not those of pushes: port 2196 for production, 2195
            for sandbox. The request carries the provider token that the fleet shares
            through Redis.

            Example:
              pushfleet channel create --app com.example.shop --storage newest
              pushfleet channel list --app com.example.shop
              pushfleet send --app com.example.shop --lane now --channel dHN0… \\
                  --expires-at +8h --payload-file goal.json
              pushfleet channel delete dHN0… --app com.example.shop

            Exit codes: 0 done, 1 Apple or somebody on the way said no, 64 wrong usage,
            78 wrong configuration.
            """,
        subcommands: [Create.self, Show.self, List.self, Delete.self]
    )

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a channel and print its id.",
            discussion: """
                The storage cannot be changed later. Keep the id: Apple can list ids, but not
                say what each is for.

                Example:
                  pushfleet channel create --app com.example.shop --storage none
                  id=$(pushfleet channel create --app com.example.shop)
                """
        )

        @Option(
            help: "What Apple keeps for those who are offline: none, or newest for at most 8 hours. (default: none)",
            transform: ChannelStorage.argument
        )
        var storage = ChannelStorage.none
        @OptionGroup var options: ChannelOptions

        func run() async throws {
            let access = try await ChannelAccess.open(self.options)
            guard case .created(let id) = try await access.carryOut(.create(self.storage)) else { return }
            if self.options.json.isOn {
                try Terminal.print(json: ChannelReport(access, channel: id, storage: self.storage))
            } else {
                Terminal.print(id)
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show whether a channel is there, and what it stores.",
            discussion: """
                Example:
                  pushfleet channel show dHN0LXNyY2gtY2hubA== --app com.example.shop
                """
        )

        @OptionGroup var channel: ChannelArgument
        @OptionGroup var options: ChannelOptions

        func run() async throws {
            let access = try await ChannelAccess.open(self.options)
            guard case .found(let storage) = try await access.carryOut(.read(self.channel.id)) else { return }
            let report = ChannelReport(access, channel: self.channel.id, storage: storage)
            if self.options.json.isOn {
                try Terminal.print(json: report)
            } else {
                Terminal.print(report.lines)
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the ids of an app's channels.",
            discussion: """
                One id on each line; Apple lists nothing else. `channel show` asks for one
                channel's storage.

                Example:
                  pushfleet channel list --app com.example.shop
                  pushfleet channel list --app com.example.shop --json \\
                      | jq '.channels | length'
                """
        )

        @OptionGroup var options: ChannelOptions

        func run() async throws {
            let access = try await ChannelAccess.open(self.options)
            guard case .channels(let ids) = try await access.carryOut(.list) else { return }
            let report = ChannelListReport(access, channels: ids)
            if self.options.json.isOn { return try Terminal.print(json: report) }
            Terminal.print(ids)
            Terminal.say(report.line)
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete a channel for good.",
            discussion: """
                Devices that follow the channel get nothing more, and messages to it are
                dead-lettered as channel_gone. It asks first, unless --yes says so already.

                Example:
                  pushfleet channel delete dHN0LXNyY2gtY2hubA== --app com.example.shop --yes
                """
        )

        @OptionGroup var channel: ChannelArgument
        @Flag(help: "Do not ask.")
        var yes = false
        @OptionGroup var options: ChannelOptions

        func run() async throws {
            let id = self.channel.id
            let access = try await ChannelAccess.open(self.options)
            try self.confirm(access)
            guard case .deleted = try await access.carryOut(.delete(id)) else { return }
            if self.options.json.isOn {
                try Terminal.print(json: ChannelReport(access, channel: id, storage: nil))
            } else {
                Terminal.print("deleted \(id)")
            }
        }

        private func confirm(_ access: ChannelAccess) throws(VerbFailure) {
            guard !self.yes else { return }
            guard isatty(STDIN_FILENO) == 1 else {
                throw VerbFailure("a deletion cannot be undone and nobody is here to ask; say --yes")
            }
            Terminal.say(
                "delete channel \(self.channel.id) of \(access.app.bundleID) in \(access.credential.environment.rawValue)? "
                    + "It cannot be undone. Type yes:"
            )
            guard readLine() == "yes" else { throw VerbFailure("nothing was deleted") }
        }
    }
}

/// The channel that a verb is about.
struct ChannelArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("The channel's id, as it came with its creation.", valueName: "channel"))
    var id: String

    func validate() throws {
        guard ChannelID.isValid(self.id) else {
            throw ValidationError("'\(self.id)' is no channel id; it is 1 to 256 characters of base64")
        }
    }
}

extension ChannelStorage {
    /// An option's value; the error becomes part of the usage message.
    static func argument(_ text: String) throws -> ChannelStorage {
        if let storage = ChannelStorage(name: text) { return storage }
        let names = Self.allCases.map(\.name).joined(separator: ", ")
        throw ValidationError("'\(text)' is no storage; it must be one of \(names)")
    }
}
