internal import Push

/// Whether a refused credential is to be believed. One refusal may be a single connection's fault, so what was refused
/// is sent once more; but the first push that was sent after it and is refused as well settles the matter, or every
/// message that waits would cost a connection of its own.
struct CredentialDoubt {
    private var since: MonotonicTime?

    /// Apple refused the credential for a push.
    /// - Returns: whether that is to be believed now.
    mutating func refused(sentAt time: MonotonicTime, at now: MonotonicTime) -> Bool {
        guard let since = self.since else {
            self.since = now
            return false
        }
        guard time >= since else { return false }
        self.since = nil
        return true
    }

    /// Apple took a push.
    /// - Returns: whether there is no doubt any more. What was sent before tells nothing.
    mutating func accepted(sentAt time: MonotonicTime) -> Bool {
        guard let since = self.since, time < since else { return true }
        return false
    }
}
