package import Push

/// One app that backends send to.
package struct AppSettings: Sendable, Equatable {
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
    /// When too many suspect tokens stop it.
    package var breaker = BreakerSettings()
    /// How fast the whole fleet may send for it; nil for as fast as Apple takes it.
    package var rate: RateLimit?
    /// Its part beside other apps of the credential while there is not enough for all: of turns, of streams and of what
    /// a worker holds; default 1.
    package var weight = 1

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

/// When an app stops because Apple says of too many tokens that they do not fit its environment or topic.
package struct BreakerSettings: Sendable, Equatable {
    /// How many of the last answers count; default 1000. No fewer than the streams of a connection: answers that are
    /// ready together come sorted, those without a body first, so that a shorter look would see nothing but refusals.
    package var window = 1000
    /// The share of them in percent that stops the app; default 50, 0 for never.
    package var threshold = 50

    package init() {}
}
