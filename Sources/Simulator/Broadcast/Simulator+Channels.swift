package import Push

/// One channel as the simulator tells it.
package struct ChannelRecord: Codable, Equatable, Sendable {
    package var bundleID: String
    /// The id, base64.
    package var channel: String
    /// `none` or `newest`.
    package var storage: String
}

extension Server {
    /// Every channel, by bundle id and in the order of creation.
    var channels: [ChannelRecord] {
        let registry = self.service.check.channels
        return registry.bundleIDs.flatMap { bundleID in
            registry.all(of: bundleID[...]).map { channel in
                ChannelRecord(
                    bundleID: String(decoding: bundleID, as: UTF8.self),
                    channel: String(decoding: channel.id, as: UTF8.self),
                    storage: channel.storage.name
                )
            }
        }
    }

    func lastBroadcast(to channel: String, bundleID: String) -> LedgerRecord? {
        // A broadcast stands in the ledger under its channel's id as a push does under its token.
        let last = self.service.lastPush(to: Array(channel.utf8), topic: Array(bundleID.utf8))
        return last?.channel == channel ? last : nil
    }

    /// - Returns: false when the app has as many as it may have.
    func addChannel(_ id: String, storage: ChannelStorage, bundleID: String) -> Bool {
        self.service.withCheck { check, _ in
            check.channels.add(.init(id: Array(id.utf8), storage: storage), to: Array(bundleID.utf8)[...])
        }
    }
}

extension Simulator {
    /// Every channel, by bundle id and in the order of creation.
    package func channels() async throws -> [ChannelRecord] {
        try await self.desk.ask { $0.channels }
    }

    /// The newest broadcast to a channel that was accepted, with its body if that is still kept.
    package func lastBroadcast(to channel: String, bundleID: String) async throws -> LedgerRecord? {
        try await self.desk.ask { $0.lastBroadcast(to: channel, bundleID: bundleID) }
    }

    /// Adds a channel as if it had been created over the management API, or replaces the one with its id.
    package func addChannel(_ id: String, storage: ChannelStorage = .none, bundleID: String) async throws {
        guard try await self.desk.ask({ $0.addChannel(id, storage: storage, bundleID: bundleID) }) else {
            throw SimulatorError("too many channels")
        }
    }
}
