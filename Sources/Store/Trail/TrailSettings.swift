/// How much of the trail is kept.
package struct TrailSettings: Sendable, Equatable {
    /// How long what happened to a message can be found; default 24 h.
    package var keep: Duration = .seconds(24 * 3600)
    /// Bytes that all of it may take in Redis; default 256 MB. 0: none is written.
    package var maxMemory = 256 * 1024 * 1024
    /// How often a worker writes what it has; default 1 s. Sooner when there is much.
    package var interval: Duration = .seconds(1)

    /// Below this the trail of a minute might not fit.
    package static let leastMemory = 8 * 1024 * 1024

    package init() {}

    package var isOn: Bool { self.maxMemory > 0 }
}
