internal import ArgumentParser
internal import Foundation

/// The program: one verb per role.
@main
struct Pushfleet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pushfleet",
        abstract: "Push messages from RabbitMQ to Apple, each answered, within a budget of connections.",
        discussion: """
            Start here:
              pushfleet doctor             is everything as it should be?
              pushfleet topology declare   make exchanges, queues and budgets
              pushfleet worker             run one replica; run as many as you like
              pushfleet gateway            an API as Amazon SNS has it, in front of them
              pushfleet send --app <app> --lane now --token <hex> --alert Hello
              pushfleet status             what waits, what went through, what failed
              pushfleet top                the same, live
              pushfleet dashboard          the fleet as a web page
              pushfleet find <message id>  what happened to one message, or to one token

            The configuration is a YAML file: --config, else PUSHFLEET_CONFIG, else
            \(ConfigurationLoader.standardPath). An environment variable goes before
            the file: amqp.url is PUSHFLEET_AMQP_URL.

            Exit codes: 0 done, 1 failed, 64 wrong usage, 78 wrong configuration.
            """,
        version: "pushfleet \(Version.current)\(Version.build)",
        subcommands: Self.verbs
    )

    private static let verbs: [any ParsableCommand.Type] = [
        WorkerVerb.self, GatewayVerb.self, DashboardVerb.self, TopologyVerb.self, SendVerb.self, StatusVerb.self,
        WorkersVerb.self, DrainVerb.self, TopVerb.self, FindVerb.self, DeadVerb.self,
        AppVerb.self, PauseVerb.self, ResumeVerb.self, DoctorVerb.self, SimulatorVerb.self, ChannelVerb.self,
        ScheduleVerb.self, LintVerb.self,
        ExplainVerb.self,
    ]

    static func main() async {
        do {
            var command = try Self.parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let failure as ConfigurationFailure {
            for problem in failure.problems { Terminal.say(problem.description) }
            Foundation.exit(VerbFailure.configuration)
        } catch let failure as VerbFailure {
            Terminal.say(failure.message)
            Foundation.exit(failure.code)
        } catch {
            Self.exit(withError: error)
        }
    }
}
