/// The second half of a routing key `<app>.<lane>`: each lane of an app is a queue of its own.
package enum Lane: String, CaseIterable, Sendable {
    /// Transactional: someone waits for it.
    case now
    /// Everything that may take its time.
    case bulk
}
