import FleetSimulation
import Glibc

/// Runs histories of the fleet, one per seed, and prints the first one in which something does not hold.
@main enum SimulateFleet {
    static func main() {
        guard let options = Options(Array(CommandLine.arguments.dropFirst())) else {
            print("usage: SimulateFleet [--seeds N] [--start S] [--trace SEED] [--bug NAME]")
            Glibc.exit(2)
        }
        if let seed = options.trace {
            let (one, violation) = Histories.live(seed: seed, bug: options.bug, isTracing: true) { print($0) }
            print(violation.map { "\($0.what)" } ?? "seed \(seed) went well")
            Self.show(one, since: nil, lives: 1)
            Glibc.exit(violation == nil ? 0 : 1)
        }
        let clock = ContinuousClock()
        let start = clock.now
        var tally = Histories.Tally()
        for seed in options.start..<options.start + options.seeds {
            let (one, violation) = Histories.live(seed: seed, bug: options.bug)
            tally.add(one)
            guard violation != nil else { continue }
            // The same history again, now with its events.
            let (_, traced) = Histories.live(seed: seed, bug: options.bug, isTracing: true)
            print(traced ?? violation!)
            let bug = options.bug.map { " --bug \($0)" } ?? ""
            print("after \(seed - options.start + 1) seeds; all events: scripts/simulate --trace \(seed)\(bug)")
            Glibc.exit(1)
        }
        print("\(options.seeds) seeds from \(options.start) went well")
        Self.show(tally, since: clock.now - start, lives: Int(options.seeds))
    }

    private static func show(_ tally: Histories.Tally, since: Duration?, lives: Int) {
        print(tally)
        if let since {
            let seconds = Double(since.components.seconds) + Double(since.components.attoseconds) / 1e18
            print("\(Int(Double(lives) / max(0.001, seconds))) seeds per second")
        }
    }

    private struct Options {
        var seeds: UInt64 = 2000
        var start: UInt64 = 0
        var trace: UInt64?
        var bug: SeededBug?

        init?(_ arguments: [String]) {
            var rest = arguments[...]
            while let name = rest.popFirst() {
                guard let value = rest.popFirst() else { return nil }
                switch name {
                case "--seeds":
                    guard let number = UInt64(value), number > 0 else { return nil }
                    self.seeds = number
                case "--start":
                    guard let number = UInt64(value) else { return nil }
                    self.start = number
                case "--trace":
                    guard let number = UInt64(value) else { return nil }
                    self.trace = number
                case "--bug":
                    guard let bug = SeededBug(rawValue: value) else { return nil }
                    self.bug = bug
                default: return nil
                }
            }
        }
    }
}
