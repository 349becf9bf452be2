internal import Glibc

/// A socket address, IPv4 or IPv6.
package struct SocketAddress: Hashable, Sendable {
    private let bytes: [UInt8]

    init(_ address: UnsafePointer<sockaddr>, length: socklen_t) {
        self.bytes = Array(UnsafeRawBufferPointer(start: address, count: Int(length)))
    }

    /// Nil if the text is not a literal IPv4 or IPv6 address.
    package init?(_ literal: String, port: UInt16) {
        let endpoint = Endpoint(host: literal, port: port)
        guard let address = try? NameService.ask(endpoint, flags: AI_NUMERICHOST).get().first else { return nil }
        self = address
    }

    var family: Int32 {
        Int32(self.bytes.withUnsafeBytes { $0.loadUnaligned(as: sockaddr.self).sa_family })
    }

    /// The address in figures, without the port; nil for what is neither IPv4 nor IPv6.
    package var numericHost: String? {
        var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let status = self.withSockaddr {
            getnameinfo($0, $1, &name, socklen_t(name.count), nil, 0, NI_NUMERICHOST)
        }
        guard status == 0 else { return nil }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
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

extension SocketAddress: Comparable {
    /// Any order will do, as long as it is always the same.
    package static func < (left: Self, right: Self) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }
}

/// Where names get their addresses from: the system, or in tests a function.
package struct NameService: Sendable {
    /// May block; it is called on a thread of its own.
    package var addresses: @Sendable (Endpoint) -> Result<[SocketAddress], TransportError>

    package init(_ addresses: @escaping @Sendable (Endpoint) -> Result<[SocketAddress], TransportError>) {
        self.addresses = addresses
    }

    /// getaddrinfo(3): `/etc/hosts`, DNS and whatever else the system is told to ask.
    package static let system = NameService { NameService.ask($0, flags: AI_ADDRCONFIG) }

    fileprivate static func ask(_ endpoint: Endpoint, flags: Int32) -> Result<[SocketAddress], TransportError> {
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
}
