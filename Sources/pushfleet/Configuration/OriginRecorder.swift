internal import Configuration
internal import Synchronization

/// Hears which provider answered the last question to a `ConfigReader` whose first provider is the environment.
final class OriginRecorder: AccessReporter {
    private let last = Mutex<AccessEvent.ProviderResult?>(nil)

    func report(_ event: AccessEvent) {
        self.last.withLock { $0 = event.providerResults.first }
    }

    /// The environment variable that the last key is read from, and whether it is set.
    var environment: (variable: String, isSet: Bool) {
        self.last.withLock { last in
            guard case .success(let lookup) = last?.result else { return ("", false) }
            return (lookup.encodedKey, lookup.value != nil)
        }
    }
}
