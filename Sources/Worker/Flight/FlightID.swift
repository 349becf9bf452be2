/// Names one message in flight, and does not name the next one that takes its place in the table.
struct FlightID: Hashable {
    let slot: UInt32
    let generation: UInt32

    /// With a token's index, what travels with a request and comes back with its answer: 24 bits of slot, 28 of
    /// generation, 12 of token.
    func context(token: Int) -> UInt64 {
        UInt64(self.slot) << 40 | UInt64(self.generation & 0xfff_ffff) << 12 | UInt64(token)
    }

    init(slot: UInt32, generation: UInt32) {
        self.slot = slot
        self.generation = generation & 0xfff_ffff
    }

    init(context: UInt64) {
        self.slot = UInt32(context >> 40)
        self.generation = UInt32(context >> 12 & 0xfff_ffff)
    }

    static func token(context: UInt64) -> Int { Int(context & 0xfff) }
}
