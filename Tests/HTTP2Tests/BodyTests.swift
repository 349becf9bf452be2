internal import Testing

@testable import HTTP2

@Suite struct BodyTests {
    @Test("a body leaves in parts of the room there is", arguments: [1, 3, 4, 5, 100])
    func parts(room: Int) {
        let bytes = Array(UInt8(0)..<12)
        var body = Body(bytes, 2..<11)
        var sent: [UInt8] = []
        while !body.range.isEmpty {
            let before = body.range.count
            let part = [UInt8](unsafeUninitializedCapacity: room) { buffer, filled in
                filled = body.moveFirst(room, to: buffer.baseAddress!)
            }
            #expect(part.count == min(room, before) && body.range.count == before - part.count)
            sent += part
        }
        #expect(sent == Array(bytes[2..<11]))
    }

    @Test("of nothing, or into no room, nothing leaves")
    func nothing() {
        var buffer: [UInt8] = [7]
        var empty = Body([])
        #expect(empty.moveFirst(1, to: &buffer) == 0)
        var full = Body([1, 2])
        #expect(full.moveFirst(0, to: &buffer) == 0 && full.range == 0..<2)
        #expect(buffer == [7])
    }
}
