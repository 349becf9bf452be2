package import Push

/// One app that backends send to.
package struct AppSettings: Sendable {
    /// The id that messages and queues name.
    package var id: String
    /// The bundle id that topics derive from; the app's id unless it says otherwise.
    package var bundleID: String
    /// The name of the credential it is sent with.
    package var credential: String
    /// When and how long failed pushes are tried again.
    package var retry: RetrySchedule
    /// What becomes of a payload over its limit.
    package var fit: PayloadFit
    /// Whether payloads are checked against Apple's keys and types.
    package var lint: PayloadLint.Mode

    package init(
        id: String,
        bundleID: String,
        credential: String,
        retry: RetrySchedule,
        fit: PayloadFit = .reject,
        lint: PayloadLint.Mode = .off
    ) {
        self.id = id
        self.bundleID = bundleID
        self.credential = credential
        self.retry = retry
        self.fit = fit
        self.lint = lint
    }
}
