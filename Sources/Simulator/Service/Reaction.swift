internal import Push

/// What is to be done about a request.
struct Reaction: Equatable {
    /// The request's number in the ledger.
    var entry: UInt64
    var deed: Deed
    /// How long after the arrival.
    var delay: Duration
    /// The stream limit to announce now, when it has changed.
    var streamLimit: UInt32?
}

/// What is done, when its time has come.
enum Deed: Equatable {
    case answer(Answer)
    /// An answer that is not put on the wire as usual.
    indirect case formed(Answer, FaultRule.AnswerForm)
    /// GOAWAY, and then what its form says; `answer` is nil when the request itself lies beyond the last stream.
    indirect case goAway(Farewell, answer: Answer?)
    /// RST_STREAM, and if told so another one.
    case reset(code: UInt32, then: UInt32?)
    case drop
    case close
    case stall
    case blackHole(reads: Bool)
    /// Something that is done to the connection beside the deed.
    indirect case also(FaultRule.Action, Deed)
    /// The connection has used up its error budget with this.
    indirect case last(Deed, ConnectionPolicy.OverBudget)
}

/// A GOAWAY.
struct Farewell: Equatable, Sendable {
    var code: UInt32
    var debugData: [UInt8]
    var lastStream: FaultRule.LastStream
    var form = FaultRule.GoAwayForm()
}

/// A response's parts.
struct Answer: Equatable {
    var status: UInt16
    var id: MessageID
    /// An id that the sender named is echoed in lower case; one that APNs makes up comes in upper case.
    var isOwnID: Bool
    /// `apns-unique-id`, given in the sandbox only.
    var uniqueID: MessageID?
    var body: [UInt8]
    /// Broadcasts know their id as `apns-request-id`.
    var isBroadcast = false
}
