/// The version of this build; the only place that holds it.
enum Version {
    static let current = "0.1.0"
}
