internal import Foundation

/// What a service tells systemd, by sd_notify(3): datagrams to the socket that `NOTIFY_SOCKET` names.
struct ServiceNotice: Sendable {
    private let path: String
    /// Within what time it wants to hear that we live; nil if it does not ask.
    let watchdog: Duration?

    /// - Returns: nil if nobody wants to be told.
    init?(environment: [String: String] = ProcessInfo.processInfo.environment, pid: Int32 = getpid()) {
        guard let path = environment["NOTIFY_SOCKET"], Self.isAddress(path) else { return nil }
        self.path = path
        self.watchdog = Self.watchdog(environment, pid: pid)
    }

    private static func isAddress(_ path: String) -> Bool {
        (path.hasPrefix("/") || path.hasPrefix("@")) && path.utf8.count > 1 && path.utf8.count < Self.longestPath
    }

    /// What `sockaddr_un` holds, with the zero behind it (unix(7)).
    private static let longestPath = 108

    /// As sd_watchdog_enabled(3) has it: `WATCHDOG_PID`, if it is set, names who is meant.
    private static func watchdog(_ environment: [String: String], pid: Int32) -> Duration? {
        guard let time = environment["WATCHDOG_USEC"].flatMap({ Int64($0) }), time > 0 else { return nil }
        if let meant = environment["WATCHDOG_PID"], Int32(meant) != pid { return nil }
        return .microseconds(time)
    }

    /// Sends assignments such as `READY=1`, in one datagram. Never waits: one that systemd has no room for is lost.
    /// - Returns: whether it was sent.
    @discardableResult
    func send(_ words: [String]) -> Bool {
        guard !words.isEmpty else { return true }
        let descriptor = socket(
            AF_UNIX,
            Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue),
            0
        )
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(self.path.utf8)
        let isAbstract = name[0] == UInt8(ascii: "@")
        // The abstract namespace is that of names that begin with a zero, and none ends them.
        if isAbstract { name[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count + (isAbstract ? 0 : 1))
        let message = Array(words.joined(separator: "\n").utf8)
        let sent = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                sendto(descriptor, message, message.count, 0, address, length)
            }
        }
        return sent == message.count
    }
}
