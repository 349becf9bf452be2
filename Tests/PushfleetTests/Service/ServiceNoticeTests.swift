internal import Foundation
internal import TestServers
internal import Testing

@testable import pushfleet

/// Against sockets of our own, as systemd has them.
@Suite struct ServiceNoticeTests {
    /// A datagram socket at a path, or at an abstract name that begins with `@`.
    private final class Listener: Sendable {
        let descriptor: Int32

        init(_ path: String) throws {
            self.descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            var name = Array(path.utf8)
            let isAbstract = path.hasPrefix("@")
            if isAbstract { name[0] = 0 }
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
            let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count + (isAbstract ? 0 : 1))
            let descriptor = self.descriptor
            let result = withUnsafePointer(to: &address) { address in
                address.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
            }
            try #require(result == 0)
        }

        deinit { close(self.descriptor) }

        /// The next datagram; nil if none is there. They arrive before the sender goes on.
        func next() -> String? {
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = recv(self.descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            return count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
        }
    }

    @Test func `Words arrive at a path and at an abstract name, in one datagram`() throws {
        let folder = try Repository.makeTemporaryDirectory("notify")
        defer { Repository.remove(folder) }
        for path in ["\(folder)/s", "@pushfleet-test-\(getpid())-\(UInt32.random(in: 0 ... .max))"] {
            let listener = try Listener(path)
            let notice = try #require(ServiceNotice(environment: ["NOTIFY_SOCKET": path]))
            #expect(notice.send(["READY=1", "STATUS=works"]), "\(path)")
            #expect(listener.next() == "READY=1\nSTATUS=works", "\(path)")
            #expect(notice.send([]) && listener.next() == nil)
        }
    }

    @Test func `Without a socket, or with one that is none, there is nobody to tell`() throws {
        for path in [nil, "", "@", "relative", "/" + String(repeating: "x", count: 200)] {
            let environment = path.map { ["NOTIFY_SOCKET": $0] } ?? [:]
            #expect(ServiceNotice(environment: environment) == nil, "\(path ?? "unset")")
        }
        let gone = try #require(ServiceNotice(environment: ["NOTIFY_SOCKET": "/nowhere/socket"]))
        #expect(!gone.send(["READY=1"]))
    }

    @Test func `The watchdog's time counts if it is meant for this process`() throws {
        func watchdog(_ time: String?, pid: String? = nil) throws -> Duration? {
            var environment = ["NOTIFY_SOCKET": "@x"]
            environment["WATCHDOG_USEC"] = time
            environment["WATCHDOG_PID"] = pid
            return try #require(ServiceNotice(environment: environment, pid: 7)).watchdog
        }
        #expect(try watchdog("30000000") == .seconds(30))
        #expect(try watchdog("30000000", pid: "7") == .seconds(30))
        #expect(try watchdog("30000000", pid: "8") == nil)
        #expect(try watchdog(nil) == nil)
        #expect(try watchdog("0") == nil)
        #expect(try watchdog("soon") == nil)
    }

    @Test func `A service is told of from its beginning to its leave`() async throws {
        let folder = try Repository.makeTemporaryDirectory("notify")
        defer { Repository.remove(folder) }
        let listener = try Listener("\(folder)/s")
        let environment = ["NOTIFY_SOCKET": "\(folder)/s", "WATCHDOG_USEC": "300000"]
        let watch = ServiceWatch(ServiceNotice(environment: environment))
        let heard = Heard()
        try await watch.run {
            ServiceHealth(status: "works")
        } _: {
            try await eventually("it is ready and alive") {
                while let words = listener.next() { heard.add(words) }
                return heard.count("READY=1") == 1 && heard.count("WATCHDOG=1") >= 2
            }
            watch.stops()
        }
        while let words = listener.next() { heard.add(words) }
        #expect(heard.count("READY=1") == 1 && heard.count("STATUS=works") == 1)
        #expect(heard.count("WATCHDOG=1") >= 2)
        #expect(heard.count("STOPPING=1") == 1)
    }

    private final class Heard: @unchecked Sendable {
        private let lock = NSLock()
        private var words: [String] = []

        func add(_ datagram: String) {
            self.lock.withLock { self.words += datagram.split(separator: "\n").map(String.init) }
        }

        func count(_ word: String) -> Int { self.lock.withLock { self.words.count { $0 == word } } }
    }
}
