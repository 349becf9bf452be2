/// The life of one AMQP connection as a whole: handshake, open, closing, over. Channels have lives of their own.
///
/// AMQP 0-9-1 §2.2.4; RabbitMQ's `authentication_failure_close` and `connection.blocked`.
struct ConnectionMachine {
    /// What both sides agreed on.
    struct Limits: Equatable {
        var channelMax: UInt16
        /// Bytes of the largest frame, header and end included.
        var frameMax: Int
    }

    enum State: Equatable {
        case connecting
        case awaitingStart
        case awaitingTune
        case awaitingOpen
        case open
        case closing
        case closed
    }

    enum Event: Equatable {
        case transportOpened
        /// `connection.start` with the names of the broker's SASL mechanisms.
        case start(mechanisms: String)
        /// `connection.tune`; 0 means no limit.
        case tune(channelMax: UInt16, frameMax: UInt32)
        case openOK
        case blocked(String)
        case unblocked
        /// `connection.close`.
        case close(code: UInt16, text: String)
        case closeOK
        /// We want to end it in good order.
        case wantsClose
        /// The transport is gone, time is up, or the peer broke the protocol.
        case failed(BrokerError)
    }

    enum Action: Equatable {
        case sendProtocolHeader
        case sendStartOK
        case sendTuneOKAndOpen(Limits)
        case opened
        /// nil: no longer blocked.
        case blocked(String?)
        case sendClose
        case sendCloseOK
        /// It is over; the shell drops the transport, after what was queued is sent if it is still there.
        case ended(BrokerError)
    }

    private(set) var state = State.connecting

    mutating func handle(_ event: Event) -> [Action] {
        switch (self.state, event) {
        case (.closed, _):
            return []
        case (_, .failed(let error)):
            // The answer to our close is lost with the transport: closed is closed.
            return self.end(self.state == .closing ? .closed : error)
        case (.connecting, .transportOpened):
            self.state = .awaitingStart
            return [.sendProtocolHeader]
        case (.awaitingStart, .start(let mechanisms)):
            guard mechanisms.split(separator: " ").contains("PLAIN") else {
                return self.end(.violation("it does not offer to log in with PLAIN, only \(mechanisms)"))
            }
            self.state = .awaitingTune
            return [.sendStartOK]
        case (.awaitingTune, .tune(let channelMax, let frameMax)):
            self.state = .awaitingOpen
            return [.sendTuneOKAndOpen(Self.limits(channelMax: channelMax, frameMax: frameMax))]
        case (.awaitingOpen, .openOK):
            self.state = .open
            return [.opened]
        case (.open, .blocked(let reason)):
            return [.blocked(reason)]
        case (.open, .unblocked):
            return [.blocked(nil)]
        case (.closing, .close), (.closing, .closeOK):
            return (event == .closeOK ? [] : [.sendCloseOK]) + self.end(.closed)
        case (.closing, _):
            return []
        case (.connecting, .close), (_, .closeOK):
            return self.end(.violation("connection.close in the wrong place"))
        case (let state, .close(let code, let text)):
            let isHandshake = state != .open
            return [.sendCloseOK]
                + self.end(isHandshake ? .refused(code: code, text: text) : .connectionClosed(code: code, text: text))
        case (.open, .wantsClose):
            self.state = .closing
            return [.sendClose]
        case (_, .wantsClose):
            return self.end(.closed)
        default:
            return self.end(.violation("an unexpected method on the connection"))
        }
    }

    /// Whether frames of channels make sense now.
    var isOpen: Bool { self.state == .open }

    private mutating func end(_ error: BrokerError) -> [Action] {
        self.state = .closed
        return [.ended(error)]
    }

    /// We ask for RabbitMQ's own default frame of 128 KiB; 4096 is the least that AMQP allows.
    private static func limits(channelMax: UInt16, frameMax: UInt32) -> Limits {
        Limits(
            channelMax: channelMax == 0 ? 2047 : min(channelMax, 2047),
            frameMax: frameMax == 0 ? 131_072 : max(4096, min(Int(frameMax), 131_072))
        )
    }
}
