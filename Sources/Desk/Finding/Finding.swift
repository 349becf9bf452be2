/// What a check found: one line of `pushfleet doctor`.
package struct Finding: Equatable, Sendable {
    package enum State: String, Sendable {
        case ok
        /// Works, but is unlikely to be meant or to last.
        case warn
        case fail
    }

    /// What was looked at, in a word or two.
    package let subject: String
    package let state: State
    /// What was found.
    package let text: String
    /// What to do about it; nil if nothing.
    package let fix: String?

    package init(_ subject: String, _ state: State, _ text: String, fix: String? = nil) {
        self.subject = subject
        self.state = state
        self.text = text
        self.fix = fix
    }
}
