internal import Broker
internal import Desk
internal import Push
internal import Worker

/// What the verbs about dead letters work with.
struct DeadAccess {
    let settings: FleetSettings
    let desk: DeadLetterDesk

    /// - Parameter asksForApps: whether the apps in Redis matter.
    static func open(_ config: ConfigurationOption, asksForApps: Bool) async throws -> DeadAccess {
        let settings =
            asksForApps
            ? try await config.requireFleet([.servers], for: "dead").settings : try config.require([.servers]).settings
        do throws(AMQPAddressError) {
            return DeadAccess(
                settings: settings,
                desk: DeadLetterDesk(try settings.brokerSettings(name: "pushfleet dead"))
            )
        } catch {
            throw VerbFailure("cannot use RabbitMQ: \(error)")
        }
    }

    /// What a worker of this fleet would take.
    var rules: ReplayRules { Self.rules(self.settings) }

    static func rules(_ settings: FleetSettings) -> ReplayRules {
        let apps = settings.apps.map { ($0.id, ReplayRules.App(fit: $0.fit, lint: $0.lint)) }
        return ReplayRules(apps: Dictionary(apps) { first, _ in first })
    }

    /// Runs one of the desk's calls.
    static func ask<Answer>(
        _ question: () async throws(DeadLetterFailure) -> Answer
    ) async throws(VerbFailure) -> Answer {
        do throws(DeadLetterFailure) {
            return try await question()
        } catch {
            throw VerbFailure("\(error)")
        }
    }
}
