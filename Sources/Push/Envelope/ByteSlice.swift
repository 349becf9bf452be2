/// A range of bytes of a body, in eight bytes. Bodies end at ``Contract/bodyLimit``, far below 4 GiB.
struct ByteSlice: Equatable, Sendable {
    var start: UInt32
    var count: UInt32

    static let empty = ByteSlice(start: 0, count: 0)

    init(start: UInt32, count: UInt32) {
        self.start = start
        self.count = count
    }

    init(_ range: Range<Int>) {
        self.start = UInt32(range.lowerBound)
        self.count = UInt32(range.count)
    }

    var range: Range<Int> { Int(self.start)..<Int(self.start) + Int(self.count) }
}
