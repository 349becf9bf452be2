internal import Push
internal import Testing

@testable import Simulator

@Suite struct ConnectionTableTests {
    @Test("a closed connection's place is used again, its number never")
    func places() {
        var table = ConnectionTable()
        #expect((1...3).map { _ in Self.open(in: &table) } == [0, 1, 2])
        #expect(table.remove(1)?.number == 2)
        #expect(table[1] == nil && table.remove(1) == nil)
        #expect(table.open.map(\.number) == [1, 3])
        #expect(Self.open(in: &table) == 1)
        #expect(Self.open(in: &table) == 3)
        #expect(table.open.map(\.number) == [1, 4, 3, 5] && table.places == 0..<4)
    }

    @Test("a connection is changed where it stands")
    func change() {
        var table = ConnectionTable()
        let place = Self.open(in: &table)
        table[place]?.requests += 2
        #expect(table[place]?.requests == 2)
    }

    private static func open(in table: inout ConnectionTable) -> Int {
        let moment = VirtualClock.Moment(
            wall: UnixTime(milliseconds: 0),
            monotonic: MonotonicTime(nanoseconds: 0)
        )
        let limit = StreamLimit(settings: StreamLimit.Settings(), held: nil)
        return table.add(Connection(number: table.nextNumber, openedAt: moment, source: "", streamLimit: limit))
    }
}
