internal import APNs
internal import ArgumentParser
internal import Desk
internal import Foundation
internal import Loop
internal import Push
internal import Store
internal import Wire
internal import Worker

/// What every verb of `channel` needs: whose channels, and how to reach Apple for them.
struct ChannelOptions: ParsableArguments {
    @Option(help: "The app, as the configuration names it.")
    var app: String
    @Flag(help: "If Redis is away, make a provider token of one's own; Apple refuses two of one key within 20 minutes.")
    var mint = false
    @Option(help: "How long connecting may take, and the answer.", transform: Duration.argument)
    var timeout: Duration = .seconds(10)
    @OptionGroup var config: ConfigurationOption
    @OptionGroup var json: JSONFlag
}

/// The channel management API as one app's credential sees it.
struct ChannelAccess {
    let app: AppSettings
    let credential: CredentialSettings
    private let token: ProviderToken?
    private let tls: TLSContext
    private let timeout: Duration

    /// Reads the configuration and gets a provider token.
    static func open(_ options: ChannelOptions) async throws -> ChannelAccess {
        let needs: ConfigurationLoader.Needs = [.servers, .keys]
        let settings = try await options.config.requireFleet(needs, for: "channel", lookingFor: options.app).settings
        guard let app = settings.apps.first(where: { $0.id == options.app }) else {
            throw VerbFailure.unknownApp(options.app, among: settings.apps.map(\.id))
        }
        guard let credential = settings.credentials.first(where: { $0.name == app.credential }) else {
            preconditionFailure("an app without its credential passed the configuration check")
        }
        let own: LoadedCredential
        do throws(CredentialFault) {
            own = try LoadedCredential.load(credential, at: WallClock.now())
        } catch {
            throw VerbFailure("\(error)")
        }
        var token: ProviderToken?
        if case .token(let signer) = own.kind { token = try await Self.token(signer, settings, options) }
        return ChannelAccess(app: app, credential: credential, token: token, tls: own.tls, timeout: options.timeout)
    }

    /// The fleet's token. Nobody mints another beside it unless told to, since Apple would refuse one of the two.
    private static func token(
        _ signer: ProviderTokenSigner,
        _ settings: FleetSettings,
        _ options: ChannelOptions
    ) async throws(VerbFailure) -> ProviderToken {
        let problem: String
        do {
            let redis = try await settings.openRedis(for: "channel", timeout: options.timeout)
            defer { redis.close() }
            return try await FleetProviderToken.fetch(signer, from: redis)
        } catch let failure as VerbFailure {
            problem = failure.message
        } catch {
            problem = "\(error)"
        }
        guard options.mint else {
            throw VerbFailure(
                "\(problem); the fleet's provider token is there. If no worker has used key \(signer.keyID) for 20 "
                    + "minutes, go on without it: --mint"
            )
        }
        Terminal.say("\(problem); going on with a provider token of this verb's own")
        return signer.mint(at: WallClock.now())
    }

    var endpoint: Endpoint {
        Endpoint(
            host: self.credential.channelHost ?? self.credential.environment.channelHost,
            port: self.credential.channelPort ?? self.credential.environment.channelPort
        )
    }

    /// Carries out one order.
    func carryOut(_ order: ChannelOrder) async throws(VerbFailure) -> ChannelAnswer {
        let bench: Bench
        do throws(LoopError) {
            bench = try Bench(name: "channel")
        } catch {
            throw VerbFailure("cannot start a thread: \(error)")
        }
        defer { bench.stop() }
        let result = await ChannelDesk.carryOut(
            order,
            bundleID: self.app.bundleID,
            at: self.endpoint,
            tls: self.tls,
            token: self.token,
            timeout: self.timeout,
            bench: bench
        )
        switch result {
        case .success(let answer): return answer
        case .failure(let failure):
            throw VerbFailure(
                ChannelAdvice.text(failure, app: self.app, credential: self.credential, endpoint: "\(self.endpoint)")
            )
        }
    }
}

/// What Apple says, and the next step.
enum ChannelAdvice {
    static func text(
        _ failure: ChannelFailure,
        app: AppSettings,
        credential: CredentialSettings,
        endpoint: String
    ) -> String {
        switch failure {
        case .unknownChannel:
            return "Apple knows no such channel of \(app.bundleID) in \(credential.environment.rawValue) "
                + "(ChannelNotRegistered); `pushfleet channel list --app \(app.id)` shows those there are. The other "
                + "environment has channels of its own"
        case .refused(let status, let reason):
            let row = ReasonTable.row(status: status, reason: reason, api: .broadcast)
            return "Apple refuses it with \(status) \(reason?.text ?? "and no reason"). \(row.meaning) \(row.nextStep)"
        case .unreadable:
            return "\(failure); see who answers at \(endpoint)"
        case .unreachable:
            return "cannot use \(endpoint): \(failure); open the way out to this host and port, which are not those of "
                + "pushes, or set credentials.\(credential.name).channel_host and channel_port"
        case .unanswered:
            return "\(endpoint): \(failure); look with `pushfleet channel list --app \(app.id)` before trying again"
        }
    }
}
