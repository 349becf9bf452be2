package import APNs
internal import Loop
internal import Push
package import Store

/// The provider token that the fleet shares, for a verb that asks Apple something beside it: a second token within 20
/// minutes would be refused with `TooManyProviderTokenUpdates`, and the fleet's perhaps with it.
package enum FleetProviderToken {
    package enum Failure: Error, Equatable, Sendable, CustomStringConvertible {
        case redis(RedisFailure)
        /// Another one is making it and does not get it done.
        case busy

        package var description: String {
            switch self {
            case .redis(let failure): "Redis cannot give the fleet's provider token: \(failure)"
            case .busy: "another worker is making the fleet's provider token and does not finish; try again"
            }
        }
    }

    /// The token at hand, or a new one that the fleet shares from now on.
    package static func fetch(
        _ signer: ProviderTokenSigner,
        from redis: RedisSession
    ) async throws(Failure) -> ProviderToken {
        let shared = SharedProviderToken(team: signer.teamID, key: signer.keyID, id: InstanceID())
        for _ in 0..<self.attempts {
            let reply = try await self.run(shared.ask(), on: redis)
            switch shared.answer(to: reply) {
            case .use(let token)?: return ProviderToken(text: token.jwt, issuedAt: token.issued)
            case .make?:
                let minted = signer.mint(at: WallClock.now())
                let stored = shared.stored(try await self.run(shared.store(minted.text), on: redis))
                if let stored { return ProviderToken(text: stored.jwt, issuedAt: stored.issued) }
            case .wait?, nil: try? await Task.sleep(for: self.pause)
            }
        }
        throw .busy
    }

    /// Longer than a lock lives that its owner has left behind.
    private static let attempts = 40
    private static let pause: Duration = .milliseconds(200)

    private static func run(_ call: ScriptCall, on redis: RedisSession) async throws(Failure) -> RedisReply {
        do throws(RedisFailure) {
            return try await redis.run(call)
        } catch {
            throw .redis(error)
        }
    }
}
