/// Hears what happens to a transport, always on its loop.
package protocol TransportDelegate: AnyObject {
    /// Connected, and with TLS the handshake is done and the peer is who it should be.
    func transportDidOpen(_ transport: Transport)
    /// Bytes arrived; they are valid only during the call.
    func transport(_ transport: Transport, didReceive bytes: UnsafeRawBufferPointer)
    /// The turn ends and there is room: whoever has more to send writes it now. Called until nothing is added.
    func transportWillFlush(_ transport: Transport)
    /// It is over; called once, and not after `close` or `reset`.
    func transport(_ transport: Transport, didClose error: TransportError)
}

extension TransportDelegate {
    package func transportWillFlush(_: Transport) {}
}
