import Foundation
import FuzzCases
import Loop
import TestLoop
import TestRandom
import TestServers
import Testing

/// What real servers said, changed at random, against a client with requests under way.
///
/// The streams in `Corpus` were recorded from our server and from nghttpd. `scripts/fuzz` does the same for longer and
/// looks for inputs that reach new code.
///
/// A fault is told with the seed that shows it again, see `PUSHFLEET_FUZZ_SEED` below. A case that ends the process leaves
/// its seed in `pushfleet-fuzz-seed-<part>` in the temporary directory.
@Suite struct MutatedStreamTests {
    static let cases = 20_000

    struct Report: Sendable {
        /// With the seed that shows them again.
        var faults: [String] = []
        var answered = 0
        var failed = 0
        var reasons: [String: Int] = [:]
        var sessionMemory = 0
    }

    private static func corpus() throws -> [[UInt8]] {
        let folder = "\(Repository.root)/Tests/HTTP2Tests/Corpus"
        return try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { name in
            Array(try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)")))
        }
    }

    /// `PUSHFLEET_FUZZ_SEED` repeats one case.
    private static let only = ProcessInfo.processInfo.environment["PUSHFLEET_FUZZ_SEED"].flatMap(UInt64.init)

    /// In parts, each on its own loop, so that a slow machine has time for each.
    @Test(arguments: 0..<4 as Range<UInt64>)
    func `Whatever is changed in a server's words, each request ends once and the client holds little`(
        part: UInt64
    ) async throws {
        let share = UInt64(Self.cases / 4)
        let corpus = try Self.corpus()
        try #require(corpus.count >= 5)
        let present = "\(FileManager.default.temporaryDirectory.path)/pushfleet-fuzz-seed-\(part)"
        let file = open(present, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        defer {
            close(file)
            unlink(present)
        }
        let report = try await onLoop(of: Report.self) { loop, report in
            var result = Report()
            var seeds = (Self.only.map { [$0] } ?? Array(part * share..<(part + 1) * share))[...]
            func some() {
                for seed in seeds.prefix(50) { run(seed) }
                seeds = seeds.dropFirst(50)
                seeds.isEmpty ? report(result) : { _ = loop.after(.zero, some) }()
            }
            func run(_ seed: UInt64) {
                // Twenty digits, so that each overwrites the last.
                let digits = String(seed)
                let line = String(repeating: "0", count: 20 - digits.count) + digits + "\n"
                pwrite(file, line, line.utf8.count, 0)
                var random = SeededRandom(seed: seed)
                var mutator = FrameMutator(seed: random.next())
                let base = corpus.randomElement(using: &random)!
                let other = corpus.randomElement(using: &random)!
                let input = mutator.mutate(base, with: other, limit: 16_384)
                let end = input.withUnsafeBytes { FuzzCase($0, on: loop) }
                result.faults += end.faults.map { "seed \(seed): \($0)" }
                result.answered += end.answered
                result.failed += end.failed
                result.reasons[end.reason, default: 0] += 1
                result.sessionMemory = max(result.sessionMemory, end.sessionMemory)
            }
            some()
            return loop
        }
        #expect(report.faults.isEmpty, "\(report.faults.prefix(5)); again with PUSHFLEET_FUZZ_SEED=<seed>")
        guard Self.only == nil else { return }
        // It would be no test if everything was answered, or nothing.
        #expect(report.answered > Int(share) / 10)
        #expect(report.failed > Int(share) / 10)
        #expect(report.reasons.count > 20, "\(report.reasons.keys.sorted())")
        #expect(report.sessionMemory > 0 && report.sessionMemory < FuzzCase.memoryBound)
    }
}
