internal import Glibc

/// SplitMix64: the same seed gives the same numbers on every machine.
struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) {
        self.state = seed
    }

    mutating func next() -> UInt64 {
        defer { self.state &+= 0x9e37_79b9_7f4a_7c15 }
        return Digest.mix(self.state)
    }

    /// A number from 0 up to, not including, 1.
    mutating func unit() -> Double {
        Double(self.next() >> 11) * 0x1p-53
    }

    /// A number of the standard normal distribution (Box and Muller); takes two draws.
    mutating func normal() -> Double {
        let radius = (-2 * log(1 - self.unit())).squareRoot()
        return radius * cos(2 * .pi * self.unit())
    }
}
