/// The version of this build; the only place that holds it.
enum Version {
    static let current = "0.1.0"

    /// What `--version` adds; nobody shall take a debug build to a benchmark or into production unawares.
    #if DEBUG
        static let build = " (debug build)"
    #else
        static let build = ""
    #endif
}
