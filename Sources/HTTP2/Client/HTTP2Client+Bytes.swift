internal import Loop
package import Wire

extension HTTP2Client: TransportDelegate {
    package func transportDidOpen(_ transport: Transport) {
        if self.phase == .connecting { self.phase = .waitingForSettings }
        transport.write(RawFrame.preface)
        transport.write(
            RawFrame.settings([
                (.enablePush, 0), (.maxHeaderListSize, UInt32(clamping: self.settings.maxHeaderListSize)),
            ])
                + RawFrame.windowUpdate(stream: 0, by: UInt32(Self.receiveWindow - 65_535))
        )
        self.liveness.bytesArrived(at: self.loop.now)
        self.aliveDeadline = self.loop.after(self.settings.settingsTimeout) {
            self.end(.settingsTimeout)
        }
    }

    package func transport(_: Transport, didReceive bytes: UnsafeRawBufferPointer) {
        guard self.phase != .closed else { return }
        if self.liveness.bytesArrived(at: self.loop.now) { self.stayAlive() }
        guard self.gate.bytesArrived(bytes.count, at: self.loop.now) else { return self.end(.tooMuchData) }
        var index = 0
        do throws(Violation) {
            while self.phase != .closed, let frame = try self.reader.next(in: bytes, from: &index) {
                try self.take(frame)
            }
        } catch {
            // A server of another protocol is told apart by how it begins, whatever else is wrong with it.
            return self.end(self.hasSettings ? error : .noSettings)
        }
        self.endIfDrained()
    }

    package func transportWillFlush(_ transport: Transport) {
        self.settleDepartures(transport)
        if self.hasFreedStreams {
            self.hasFreedStreams = false
            if self.availableStreams > 0 { self.delegate?.http2HasFreeStreams(self) }
        }
        guard self.phase != .closed else { return }
        self.sendHeld(transport)
        self.sendBlocked()
        // A reset of ours that just left may have ended the last stream; it still has to reach the kernel.
        if self.phase == .draining, self.waiting.oldest == nil { self.loop.after(.zero) { self.endIfDrained() } }
    }

    package func transport(_: Transport, didClose error: TransportError) {
        self.end(.transport(error))
    }

    /// Forgets which requests have gone all the way to the kernel.
    private func settleDepartures(_ transport: Transport) {
        let gone = transport.bytesWritten - transport.unsentBytes
        while let first = self.departures.first, first.offset < gone { self.departures.removeFirst() }
    }

    /// What the peer may send at a time, on all streams together. Responses are tiny; the window must only never be
    /// what they wait for.
    static let receiveWindow = 1 << 20
}
