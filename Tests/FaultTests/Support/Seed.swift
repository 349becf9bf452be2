import Foundation
import TestRandom

/// What decides when and whom faults hit: another one in each run, unless PUSHFLEET_SEED says which.
struct Seed: CustomStringConvertible {
    let number: UInt64

    init() {
        let given = ProcessInfo.processInfo.environment["PUSHFLEET_SEED"].flatMap { UInt64($0) }
        self.number = given ?? UInt64.random(in: 1...999_999)
        print("PUSHFLEET_SEED=\(self.number)")
    }

    var random: SeededRandom { SeededRandom(spreading: self.number) }
    var description: String { "seed \(self.number)" }
}
