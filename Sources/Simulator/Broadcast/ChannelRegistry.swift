internal import Push

/// The broadcast channels of every app.
struct ChannelRegistry: Sendable {
    struct Channel: Equatable, Sendable {
        let id: [UInt8]
        let storage: ChannelStorage
    }

    /// Channels that one app may have; Apple's number is 10,000.
    let limit: Int
    /// By bundle id, in the order of their creation.
    private var channels: [[UInt8]: [Channel]] = [:]

    init(limit: Int) {
        self.limit = limit
    }

    func channel(_ id: ArraySlice<UInt8>, of bundleID: ArraySlice<UInt8>) -> Channel? {
        self.channels[Array(bundleID)]?.first { $0.id.elementsEqual(id) }
    }

    func all(of bundleID: ArraySlice<UInt8>) -> [Channel] { self.channels[Array(bundleID)] ?? [] }

    /// Every bundle id that has channels, sorted.
    var bundleIDs: [[UInt8]] {
        self.channels.filter { !$0.value.isEmpty }.keys.sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// Adds a channel, or replaces the one with its id.
    /// - Returns: false when the app has as many as it may have.
    mutating func add(_ channel: Channel, to bundleID: ArraySlice<UInt8>) -> Bool {
        let bundleID = Array(bundleID)
        if let place = self.channels[bundleID]?.firstIndex(where: { $0.id == channel.id }) {
            self.channels[bundleID]?[place] = channel
            return true
        }
        guard self.channels[bundleID, default: []].count < self.limit else { return false }
        self.channels[bundleID, default: []].append(channel)
        return true
    }

    /// - Returns: whether there was one.
    mutating func remove(_ id: ArraySlice<UInt8>, of bundleID: ArraySlice<UInt8>) -> Bool {
        let bundleID = Array(bundleID)
        guard let place = self.channels[bundleID]?.firstIndex(where: { $0.id.elementsEqual(id) }) else { return false }
        self.channels[bundleID]?.remove(at: place)
        return true
    }

    mutating func removeAll() {
        self.channels = [:]
    }
}
