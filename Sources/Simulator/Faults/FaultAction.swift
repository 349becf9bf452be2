extension FaultRule {
    /// What happens to the request, its connection, or the whole simulator.
    package enum Action: Equatable, Sendable {
        // MARK: To the answer

        /// Nothing but the delay.
        case pass
        /// A status with `{"reason":…}`, or with `body` as it is.
        case answer(status: Int, reason: String?, body: String?, form: AnswerForm = AnswerForm())
        /// RST_STREAM with `code`, and if told so another one right behind it.
        case reset(code: UInt32, then: UInt32? = nil)
        /// Never an answer; the connection lives on.
        case stall

        // MARK: To the connection

        /// GOAWAY with `code` and `debugData`, then what `form` says.
        case goAway(code: UInt32, debugData: String, lastStream: LastStream, form: GoAwayForm = GoAwayForm())
        /// The connection ends with a TCP reset.
        case drop
        /// The connection ends with a FIN.
        case close
        /// Nothing is said on the connection any more, though it stays open: no answers, no acknowledgements. What
        /// comes in is read and written down, or else left in the kernel until the sender cannot send any more.
        case blackHole(reads: Bool)
        /// PINGs are not acknowledged any more; all else goes on.
        case ignorePings
        /// Other values of SETTINGS.
        case settings(SettingsForm)

        // MARK: To a connection that is about to be made

        /// A TCP reset instead of the TLS handshake.
        case refuse
        /// The connection is accepted, and nothing is ever said on it, not even TLS.
        case silence
        /// A TLS handshake with another certificate or without the protocol that was asked for.
        case handshake(HandshakeForm)

        // MARK: To the simulator; the request is judged after it

        /// From now on the key with this `kid` is not known.
        case revokeKey(String)
        /// The provider's team gets an app; open connections do not see it.
        case addBundleID(String)
        /// From now on it plays the other environment.
        case setEnvironment(APNsEnvironment)
        /// New connections from the sender's address are refused for so long.
        case blockConnects(Duration)
    }

    /// How an answer is put on the wire.
    package struct AnswerForm: Equatable, Sendable {
        package enum Extent: String, CaseIterable, Sendable {
            case whole
            /// The header block; the body never comes.
            case headers
            /// The header block and the first half of the body; the rest never comes.
            case half
        }

        package var extent: Extent
        /// Between the header block and the body.
        package var pause: Duration
        /// `retry-after`, as it is.
        package var retryAfter: String?
        /// The body's `timestamp`, milliseconds since 1970; goes with a reason.
        package var timestamp: Int64?

        package init(
            extent: Extent = .whole,
            pause: Duration = .zero,
            retryAfter: String? = nil,
            timestamp: Int64? = nil
        ) {
            self.extent = extent
            self.pause = pause
            self.retryAfter = retryAfter
            self.timestamp = timestamp
        }
    }

    /// The last stream that GOAWAY says was, or might be, processed (RFC 9113 §6.8).
    package enum LastStream: Equatable, Sendable {
        /// The one of this request, which therefore is answered; without a request, the newest.
        case current
        case zero
        case stream(Int32)
    }

    /// What goes before a GOAWAY, and what comes after it.
    package struct GoAwayForm: Equatable, Sendable {
        package enum Ending: String, CaseIterable, Sendable {
            /// What is owed is answered, then the connection closes.
            case drain
            /// Nothing is said any more; after ``GoAwayForm/silence`` the connection closes.
            case silence
            /// A TCP reset right behind it.
            case drop
            /// What is owed is answered, and the connection stays open.
            case stay
        }

        package var then: Ending
        package var silence: Duration
        /// So long before, another GOAWAY with the last stream 2³¹-1 is sent (RFC 9113 §6.8); nil for none.
        package var warning: Duration?
        /// Whether it comes before SETTINGS; on `connect` only.
        package var isBeforeSettings: Bool

        package init(
            then: Ending = .drain,
            silence: Duration = .seconds(30),
            warning: Duration? = nil,
            isBeforeSettings: Bool = false
        ) {
            self.then = then
            self.silence = silence
            self.warning = warning
            self.isBeforeSettings = isBeforeSettings
        }
    }

    /// Values of SETTINGS and windows; what is nil stays as it is.
    package struct SettingsForm: Equatable, Sendable {
        /// MAX_CONCURRENT_STREAMS, whatever is judged from now on.
        package var streams: UInt32?
        /// INITIAL_WINDOW_SIZE.
        package var window: UInt32?
        /// How long `streams` holds; nil for ever.
        package var lasts: Duration?
        /// The window of the whole connection; on `connect` only.
        package var connectionWindow: UInt32?
        /// Whether windows are opened again as bodies arrive; on `connect` only.
        package var updatesWindows: Bool?
        /// Whether SETTINGS is sent at all; on `connect` only.
        package var isSent: Bool

        package init(
            streams: UInt32? = nil,
            window: UInt32? = nil,
            lasts: Duration? = nil,
            connectionWindow: UInt32? = nil,
            updatesWindows: Bool? = nil,
            isSent: Bool = true
        ) {
            self.streams = streams
            self.window = window
            self.lasts = lasts
            self.connectionWindow = connectionWindow
            self.updatesWindows = updatesWindows
            self.isSent = isSent
        }
    }

    /// What is different about a TLS handshake.
    package struct HandshakeForm: Equatable, Sendable {
        package enum ALPN: String, CaseIterable, Sendable {
            case h2
            /// The server names no protocol.
            case none
            /// The server knows only this one, and says so with an alert.
            case http1 = "http/1.1"
        }

        /// A name of ``Simulator/Settings/certificates``; nil for the usual one.
        package var certificate: String?
        package var alpn: ALPN

        package init(certificate: String? = nil, alpn: ALPN = .h2) {
            self.certificate = certificate
            self.alpn = alpn
        }
    }
}

extension FaultRule.Action {
    /// What a rule with this action may be asked about; the first is what it is asked about unless it says otherwise.
    package var occasions: [FaultRule.Occasion] {
        switch self {
        case .pass, .answer, .reset, .stall: [.request]
        case .goAway, .drop, .close, .blackHole, .ignorePings, .settings: [.request, .connect]
        case .refuse, .silence, .handshake: [.connect]
        case .revokeKey, .addBundleID, .setEnvironment, .blockConnects: [.request, .connect]
        }
    }
}

extension FaultRule.Action {
    /// Whether the request is judged and answered as if there were no rule.
    var leavesRequestAlone: Bool {
        switch self {
        case .pass, .ignorePings, .settings, .revokeKey, .addBundleID, .setEnvironment, .blockConnects: true
        case .answer, .reset, .stall, .goAway, .drop, .close, .blackHole, .refuse, .silence, .handshake: false
        }
    }
}
