/// The channels of a connection by their numbers. Number 0 is the connection's own, and never free.
struct ChannelTable {
    private var channels: [Channel?] = [nil]
    /// The highest number that may be used, as agreed with the broker; before that, none.
    var limit: UInt16 = 0

    /// The lowest number without a channel; nil when all are taken.
    var freeNumber: UInt16? {
        let free = self.channels.dropFirst().firstIndex { $0 == nil } ?? self.channels.count
        return free <= Int(self.limit) ? UInt16(free) : nil
    }

    /// All there are, in the order of their numbers.
    var all: [Channel] { self.channels.compactMap { $0 } }

    /// The channel that a frame is for.
    func channel(_ number: UInt16) throws(BrokerError) -> Channel {
        guard Int(number) < self.channels.count, let channel = self.channels[Int(number)] else {
            throw .violation("a frame on channel \(number), which is not open")
        }
        return channel
    }

    /// Takes in a channel whose number is free.
    mutating func add(_ channel: Channel) {
        let number = Int(channel.number)
        if number == self.channels.count { self.channels.append(nil) }
        self.channels[number] = channel
    }

    /// The number may be used again.
    mutating func free(_ number: UInt16) {
        guard Int(number) < self.channels.count else { return }
        self.channels[Int(number)] = nil
    }

    /// The broker confirms that we closed a channel. When the number is no longer that channel's, it means nothing.
    mutating func confirmClose(_ number: UInt16) {
        guard Int(number) < self.channels.count, self.channels[Int(number)]?.state == .closing else { return }
        self.channels[Int(number)] = nil
    }
}
