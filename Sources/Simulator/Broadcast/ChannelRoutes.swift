internal import Hummingbird
internal import Push

extension ControlRoutes {
    /// Channels: who is there, and one more without the management API.
    func addChannels(to router: Router<BasicRequestContext>) {
        router.get("/channels") { request, _ in
            var query = Query(request)
            let bundleID = query.string("bundle_id")
            try query.end()
            let channels = try await self.desk.ask { $0.channels }
            return try Self.json(["channels": channels.filter { bundleID == nil || $0.bundleID == bundleID }])
        }
        // The id is no part of the path, because base64 has slashes.
        router.get("/channels/last") { request, _ in
            var query = Query(request)
            let bundleID = query.string("bundle_id")
            let channel = query.string("channel")
            try query.end()
            guard let bundleID else { throw BadField(field: "bundle_id", problem: "is required") }
            guard let channel else { throw BadField(field: "channel", problem: "is required, with + written as %2B") }
            guard let last = try await self.desk.ask({ $0.lastBroadcast(to: channel, bundleID: bundleID) }) else {
                throw ControlError(status: .notFound, problem: "no broadcast to this channel was accepted")
            }
            return try Self.json(last)
        }
        router.post("/channels") { request, _ in
            let order = try ChannelOrder(json: await Self.body(request))
            let isAdded = try await self.desk.ask {
                $0.addChannel(order.channel, storage: order.storage, bundleID: order.bundleID)
            }
            guard isAdded else {
                throw ControlError(status: .conflict, problem: "the app has as many channels as it may have")
            }
            return try Self.json(
                ChannelRecord(bundleID: order.bundleID, channel: order.channel, storage: order.storage.name),
                status: .created
            )
        }
    }
}

/// What `POST /channels` asks for.
private struct ChannelOrder {
    private enum Storage: String, CaseIterable {
        case none, newest
    }

    let bundleID: String
    let channel: String
    let storage: ChannelStorage

    init(json: ControlValue) throws(BadField) {
        var fields = try Fields(json)
        self.bundleID = try fields.requiredString("bundle_id")
        self.channel = try fields.requiredString("channel")
        self.storage = try fields.choice("storage", of: Storage.self) == .newest ? .newest : .none
        try fields.end()
        guard ChannelID.isValid(self.channel) else {
            throw BadField(field: "channel", problem: "must be 1 to 256 characters of base64")
        }
    }
}
