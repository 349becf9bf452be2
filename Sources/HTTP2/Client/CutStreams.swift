/// The streams that were over before the peer had ended them: reset by either side, or called off by GOAWAY. What still
/// arrives for them was on its way, and is no offence; what arrives for any other stream that is over is one (RFC 9113
/// §5.1).
struct CutStreams {
    /// More than so many, and everything is taken for what was on its way; `FloodGate` still bounds it.
    static let capacity = 8192

    private var ids: Set<Int32> = []
    private var isFull = false

    mutating func insert(_ id: Int32) {
        guard !self.isFull else { return }
        self.ids.insert(id)
        guard self.ids.count > Self.capacity else { return }
        self.isFull = true
        self.ids = []
    }

    func contains(_ id: Int32) -> Bool {
        self.isFull || self.ids.contains(id)
    }
}
