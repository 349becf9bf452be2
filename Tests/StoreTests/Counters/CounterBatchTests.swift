import TestRandom
import Testing

@testable import Store

@Suite struct CounterBatchTests {
    @Test func `Places and names agree`() {
        #expect(CounterField.allCases.map(\.index) == Array(0..<CounterLayout.fields))
        #expect(CounterLayout.names.count == CounterLayout.width)
        #expect(Set(CounterLayout.names).count == CounterLayout.width)
    }

    @Test(arguments: HistogramField.allCases)
    func `A value falls into the first bucket that is not below it`(field: HistogramField) {
        for value in [Int64(0), 1, 5, 6, 100, 101, 9_999, 10_000, 10_001, 10_800_000, 10_800_001, .max] {
            let (bucket, sum) = CounterLayout.places(of: field, milliseconds: value)
            let bound = field.bounds.first { value <= $0 }
            #expect(CounterLayout.names[bucket] == "\(field.rawValue).le_" + (bound.map { "\($0)" } ?? "inf"))
            #expect(CounterLayout.names[sum] == "\(field.rawValue).sum")
            #expect(CounterLayout.names[sum + 1] == "\(field.rawValue).count")
        }
    }

    @Test(arguments: UInt64(0)..<20)
    func `A random walk agrees with a plain dictionary`(seed: UInt64) {
        var random = SeededRandom(spreading: seed)
        var batch = CounterBatch()
        var model: [String: Int64] = [:]
        var taken: [String: Int64] = [:]
        for _ in 0..<5_000 {
            let app = "app\(Int.random(in: 0..<5, using: &random))"
            let slot = batch.slot(app: app, lane: "now")
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                let field = CounterField.allCases.randomElement(using: &random)!
                batch.add(field, 3, at: slot)
                model["now:\(app) \(field.rawValue)", default: 0] += 3
            case 1:
                let field = ReasonField.allCases.randomElement(using: &random)!
                let reason = "R\(Int.random(in: 0..<4, using: &random))"
                batch.add(field, batch.reason(reason), at: slot)
                // Only these two have a total of their own.
                if [.retried, .deadLettered].contains(field) {
                    model["now:\(app) \(field.rawValue)", default: 0] += 1
                }
                model["now:\(app) \(field.rawValue).\(reason)", default: 0] += 1
            case 2:
                let field = HistogramField.allCases.randomElement(using: &random)!
                let value = Int64.random(in: -5...20_000, using: &random)
                batch.observe(.milliseconds(value), field, at: slot)
                let bound = field.bounds.first { value <= $0 }.map { "\($0)" } ?? "inf"
                model["now:\(app) \(field.rawValue).le_\(bound)", default: 0] += 1
                model["now:\(app) \(field.rawValue).sum", default: 0] += max(0, value)
                model["now:\(app) \(field.rawValue).count", default: 0] += 1
            default:
                guard random.chance(0.1) else { continue }
                Self.collect(batch.take(limit: Int.random(in: 1...5, using: &random)), into: &taken)
            }
        }
        while !batch.isEmpty { Self.collect(batch.take(limit: 2), into: &taken) }
        #expect(taken == model.filter { $0.value != 0 })
    }

    @Test func `What publishers write cannot fill Redis`() {
        var batch = CounterBatch()
        for number in 0..<CounterBatch.maximumSlots + 50 {
            batch.add(.received, at: batch.slot(app: "app\(number)", lane: "now"))
        }
        for number in 0..<CounterBatch.maximumReasons + 50 {
            batch.add(.retried, batch.reason("R\(number)"), at: batch.slot(app: "app0", lane: "now"))
        }
        let deltas = batch.take(limit: .max)
        #expect(deltas.count == CounterBatch.maximumSlots + 1)
        #expect(deltas.first { $0.lane == "now:other" }?.fields.first?.count == 50)
        #expect(deltas.first?.fields.first { $0.name == "retried.other" }?.count == 50)
    }

    private static func collect(_ deltas: [CounterBatch.Delta], into counts: inout [String: Int64]) {
        for delta in deltas {
            for field in delta.fields { counts["\(delta.lane) \(field.name)", default: 0] += field.count }
        }
    }

    @Test(arguments: [
        ([10, 0, 0, 0], 0.5, 50.0), ([0, 10, 0, 0], 0.5, 150.0), ([5, 5, 0, 0], 0.5, 100.0),
        ([5, 4, 1, 0], 0.95, 250.0), ([0, 0, 0, 3], 0.5, 300.0), ([9, 0, 0, 1], 0.99, 300.0),
    ])
    func `A percentile lies within its bucket`(counts: [Int64], share: Double, expected: Double) {
        let histogram = Histogram(bounds: [100, 200, 300], counts: counts, sum: 1)
        #expect(histogram.percentile(share).map { abs($0 - expected) < 1e-6 } == true)
    }

    @Test func `Without values there is no percentile`() {
        #expect(Histogram(bounds: [1], counts: [0, 0], sum: 0).percentile(0.5) == nil)
        #expect(Histogram(bounds: [1], counts: [0, 0], sum: 0).mean == nil)
    }
}
