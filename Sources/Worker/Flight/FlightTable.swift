/// The messages in flight, in slots that are used again; at most the sum of all prefetches.
struct FlightTable {
    private var flights: [Flight?] = []
    private var generations: [UInt32] = []
    private var free: [UInt32] = []
    private(set) var count = 0

    mutating func insert(_ flight: consuming Flight) -> FlightID {
        self.count += 1
        if let slot = self.free.popLast() {
            self.flights[Int(slot)] = flight
            return FlightID(slot: slot, generation: self.generations[Int(slot)])
        }
        let slot = UInt32(self.flights.count)
        self.flights.append(flight)
        self.generations.append(0)
        return FlightID(slot: slot, generation: 0)
    }

    /// The message, if it is still in flight: an answer may come after its message was let go.
    func contains(_ id: FlightID) -> Bool {
        Int(id.slot) < self.flights.count && self.generations[Int(id.slot)] == id.generation
            && self.flights[Int(id.slot)] != nil
    }

    /// The message; nil if it was let go already.
    func find(_ id: FlightID) -> Flight? { self.contains(id) ? self.flights[Int(id.slot)] : nil }

    /// - Precondition: the message is in flight.
    subscript(id: FlightID) -> Flight { self.flights[Int(id.slot)]! }

    @discardableResult
    mutating func remove(_ id: FlightID) -> Flight {
        precondition(self.contains(id), "a message left twice")
        let flight = self.flights[Int(id.slot)]!
        self.flights[Int(id.slot)] = nil
        self.generations[Int(id.slot)] = FlightID(slot: 0, generation: id.generation &+ 1).generation
        self.free.append(id.slot)
        self.count -= 1
        return flight
    }

    /// Looks at every message in flight.
    func visit(_ body: (Flight) -> Void) {
        for case let flight? in self.flights { body(flight) }
    }

    /// Every message in flight.
    var ids: [FlightID] {
        self.flights.indices.compactMap { slot in
            self.flights[slot] == nil
                ? nil : FlightID(slot: UInt32(slot), generation: self.generations[slot])
        }
    }
}
