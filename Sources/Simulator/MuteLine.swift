internal import Wire

/// A connection on which nothing is ever said, not even TLS; what comes in is thrown away.
final class MuteLine: TransportDelegate {
    private var transport: Transport?
    private let isOver: (ObjectIdentifier) -> Void

    /// - Parameter isOver: called when the sender has given up.
    init(isOver: @escaping (ObjectIdentifier) -> Void) {
        self.isOver = isOver
    }

    func begin(_ arrival: Arrival) {
        self.transport = arrival.begin(tls: nil, delegate: self)
    }

    func end() {
        self.transport?.reset()
    }

    func transportDidOpen(_: Transport) {}
    func transport(_: Transport, didReceive _: UnsafeRawBufferPointer) {}

    func transport(_: Transport, didClose _: TransportError) {
        self.isOver(ObjectIdentifier(self))
    }
}
