internal import CLinux
internal import Glibc
internal import Loop

/// A socket address, IPv4 or IPv6.
struct SocketAddress: Hashable, Sendable {
    private let bytes: [UInt8]

    init(_ address: UnsafePointer<sockaddr>, length: socklen_t) {
        self.bytes = Array(UnsafeRawBufferPointer(start: address, count: Int(length)))
    }

    var family: Int32 {
        Int32(self.bytes.withUnsafeBytes { $0.loadUnaligned(as: sockaddr.self).sa_family })
    }

    func withSockaddr<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        // Copied into storage that is aligned for every address family.
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) { $0.copyBytes(from: self.bytes) }
        return withUnsafePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(self.bytes.count)) }
        }
    }
}

/// getaddrinfo(3), which blocks, on a thread of its own; the answer comes back on the loop.
///
/// A lookup is fresh each time, as Apple asks before every new connection. A thread per lookup is enough: each owner
/// of connections has at most one lookup under way per connection and waits between attempts.
enum Resolver {
    static func resolve(
        _ endpoint: Endpoint,
        on loop: EventLoop,
        _ completion: @escaping (Result<[SocketAddress], TransportError>) -> Void
    ) {
        if let literal = try? self.lookUp(endpoint, flags: AI_NUMERICHOST).get() {
            return completion(.success(literal))
        }
        let remote = loop.remote
        let bound = LoopBound(completion, to: loop)
        let request = Request {
            let result = self.lookUp(endpoint, flags: AI_ADDRCONFIG)
            remote.post { bound.value(result) }
        }
        var thread = pthread_t()
        let context = Unmanaged.passRetained(request).toOpaque()
        let status = pthread_create(
            &thread,
            nil,
            { context in
                Unmanaged<Request>.fromOpaque(context!).takeRetainedValue().body()
                return nil
            },
            context
        )
        if status == 0 {
            pthread_detach(thread)
        } else {
            Unmanaged<Request>.fromOpaque(context).release()
            completion(.failure(.resolve(host: endpoint.host, detail: String(cString: strerror(status)))))
        }
    }

    private static func lookUp(_ endpoint: Endpoint, flags: Int32) -> Result<[SocketAddress], TransportError> {
        var hints = addrinfo()
        hints.ai_flags = flags | AI_NUMERICSERV
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(endpoint.host, String(endpoint.port), &hints, &list)
        guard status == 0 else {
            return .failure(.resolve(host: endpoint.host, detail: String(cString: gai_strerror(status))))
        }
        defer { freeaddrinfo(list) }
        let addresses = sequence(first: list, next: { $0?.pointee.ai_next }).compactMap { entry in
            entry?.pointee.ai_addr.map { SocketAddress($0, length: entry!.pointee.ai_addrlen) }
        }
        return .success(addresses)
    }

    private final class Request: Sendable {
        let body: @Sendable () -> Void

        init(body: @escaping @Sendable () -> Void) {
            self.body = body
        }
    }
}
