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

    package init(id: String, bundleID: String, credential: String, retry: RetrySchedule) {
        self.id = id
        self.bundleID = bundleID
        self.credential = credential
        self.retry = retry
    }
}
