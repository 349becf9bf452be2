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
    /// GOAWAY; the connection closes when all that it still owes is answered. `answer` is nil when the request itself
    /// lies beyond `lastStream`.
    case goAway(lastStream: Int32, code: UInt32, debugData: [UInt8], answer: Answer?)
    case reset(code: UInt32)
    case drop
    case close
    case stall
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
