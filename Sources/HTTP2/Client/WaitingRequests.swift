/// The requests without an outcome, oldest first: the order of their stream ids and, as all may take equally long, of
/// their deadlines.
struct WaitingRequests {
    private(set) var oldest: ClientStream.Pointer?
    private(set) var newest: ClientStream.Pointer?

    mutating func append(_ stream: ClientStream.Pointer) {
        stream.pointee.newer = nil
        stream.pointee.older = self.newest
        if let newest = self.newest { newest.pointee.newer = stream } else { self.oldest = stream }
        self.newest = stream
    }

    /// Takes a request out, because it now has its outcome.
    mutating func remove(_ stream: ClientStream.Pointer) {
        let older = stream.pointee.older
        let newer = stream.pointee.newer
        if let older { older.pointee.newer = newer } else { self.oldest = newer }
        if let newer { newer.pointee.older = older } else { self.newest = older }
        stream.pointee.isPending = false
    }

    /// The request of a stream; nil if it already has its outcome.
    func find(_ id: Int32) -> ClientStream.Pointer? {
        var candidate = self.newest
        while let request = candidate, request.pointee.id > id { candidate = request.pointee.older }
        return candidate.flatMap { $0.pointee.id == id ? $0 : nil }
    }
}
