internal import Glibc
package import Push

/// What the system says of this process, as every Prometheus client tells it.
package struct ProcessFigures: Sendable, Equatable {
    /// When the process began, as far as it knows.
    package var startedAt: UnixTime
    package var cpuTime: Duration = .zero
    package var residentBytes = 0
    package var openFiles = 0
    package var maximumFiles = 0

    package init(startedAt: UnixTime) {
        self.startedAt = startedAt
    }

    /// Asks the system; what it does not say is zero.
    package static func now(startedAt: UnixTime) -> ProcessFigures {
        var figures = ProcessFigures(startedAt: startedAt)
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        figures.cpuTime = .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
        figures.residentBytes = Self.residentPages() * sysconf(Int32(_SC_PAGESIZE))
        figures.openFiles = Self.count(of: "/proc/self/fd")
        figures.maximumFiles = sysconf(Int32(_SC_OPEN_MAX))
        return figures
    }

    /// The second number of `/proc/self/statm` (proc(5)).
    private static func residentPages() -> Int {
        let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return 0 }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = read(file, &bytes, bytes.count)
        guard count > 0 else { return 0 }
        let words = String(decoding: bytes[..<count], as: UTF8.self).split(separator: " ")
        return words.count > 1 ? Int(words[1]) ?? 0 : 0
    }

    /// Entries of a folder, but for the two that every folder has and the one that looking needs.
    private static func count(of folder: String) -> Int {
        guard let entries = opendir(folder) else { return 0 }
        defer { closedir(entries) }
        var count = 0
        while readdir(entries) != nil { count += 1 }
        return max(0, count - 3)
    }
}
