/// Decides when a file has changed and is whole: when a second look finds the same as the first. Does no I/O.
struct FileWatch: Equatable {
    /// What was acted on; nil for a file that is not there.
    private var handled: [UInt8]?
    private var last: [UInt8]?

    init(inUse content: [UInt8]?) {
        self.handled = content
        self.last = content
    }

    /// Takes what a look has found.
    /// - Returns: whether it is to be acted on; once for each change.
    mutating func looked(_ content: [UInt8]?) -> Bool {
        defer { self.last = content }
        guard content == self.last, content != self.handled else { return false }
        self.handled = content
        return true
    }
}
