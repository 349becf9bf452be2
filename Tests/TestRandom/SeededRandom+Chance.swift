extension SeededRandom {
    /// Neighbouring seeds begin far apart.
    package init(spreading seed: UInt64) {
        self.init(seed: seed &* 0x9e37_79b9_7f4a_7c15)
    }

    package mutating func chance(_ probability: Double) -> Bool {
        Double.random(in: 0..<1, using: &self) < probability
    }
}
