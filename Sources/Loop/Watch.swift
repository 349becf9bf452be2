/// What a file descriptor can be ready for.
package struct Readiness: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Bytes, an end of file or an error wait to be read.
    package static let read = Readiness(rawValue: 1)
    /// There is room to write.
    package static let write = Readiness(rawValue: 2)
}

/// Is told when its file descriptor is ready.
package protocol ReadinessHandler: AnyObject {
    func isReady(_ readiness: Readiness)
}

/// One file descriptor under a loop's eye. Cancel it before the descriptor is closed.
package final class Watch {
    let slot: Int
    let descriptor: Int32
    let token: UInt64
    private(set) var handler: (any ReadinessHandler)?
    private var loop: EventLoop?

    /// What the handler is told about; changing it costs one system call.
    package var interest: Readiness {
        didSet {
            guard self.interest != oldValue else { return }
            self.loop?.change(self, to: self.interest)
        }
    }

    init(loop: EventLoop, slot: Int, descriptor: Int32, interest: Readiness, handler: any ReadinessHandler) {
        self.loop = loop
        self.slot = slot
        self.descriptor = descriptor
        self.interest = interest
        self.handler = handler
        self.token = UInt64(UInt32(slot)) | UInt64(UInt32.random(in: 0..<UInt32.max)) << 32
    }

    /// Ends the watch; the handler is not called again. Calling it twice does nothing.
    package func cancel() {
        guard let loop = self.loop else { return }
        self.loop = nil
        self.handler = nil
        loop.cancel(self)
    }
}
