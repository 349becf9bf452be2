import TestRandom
import Testing

@testable import HTTP2

@Suite struct StreamTableTests {
    @Test(arguments: 0..<100 as Range<UInt64>)
    func `It finds what was put in and not taken out`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var pool = StreamPool<ClientStream>()
        var table = StreamTable()
        var open: [Int32: ClientStream.Pointer] = [:]
        var next: Int32 = 1
        let most = [3, 40, 1200].randomElement(using: &random)!
        for _ in 0..<4000 {
            if open.count < most, Bool.random(using: &random) {
                let stream = pool.take()
                stream.pointee.id = next
                table.insert(stream)
                open[next] = stream
                // Ids may be left out; some streams stay open while thousands pass.
                next += [2, 2, 2, 4, 128, 1024].randomElement(using: &random)!
            } else if let (id, stream) = open.randomElement(using: &random), id != 1 || open.count == 1 {
                table.remove(id)
                table.remove(id)
                open[id] = nil
                pool.give(back: stream)
            }
            let id = Int32.random(in: 0...next, using: &random)
            #expect(table.find(id) == open[id])
        }
        #expect(open.allSatisfy { table.find($0.key) == $0.value })
        var visited: Set<Int32> = []
        table.visit { #expect(visited.insert($0.pointee.id).inserted) }
        #expect(visited == Set(open.keys))
    }
}
