internal import Glibc
internal import Loop
internal import Synchronization

/// Asks for the addresses of a name, which blocks, on a thread of its own; the answer comes back on the loop.
///
/// A lookup is fresh each time, as Apple asks before every new connection; how long an answer may be kept is left to
/// the system's resolver.
enum Resolver {
    private typealias Deliver = @Sendable (Result<[SocketAddress], TransportError>) -> Void

    private static let desk = Mutex(LookupDesk<Deliver>())
    private static let turn = Mutex(AddressTurn(first: .random(in: 0..<1 << 20)))

    /// - Parameter completion: gets the addresses in the order in which to try them, unless that is empty an error.
    static func resolve(
        _ endpoint: Endpoint,
        by names: NameService,
        on loop: EventLoop,
        _ completion: @escaping (Result<[SocketAddress], TransportError>) -> Void
    ) {
        if let literal = SocketAddress(endpoint.host, port: endpoint.port) { return completion(.success([literal])) }
        let remote = loop.remote
        let bound = LoopBound(completion, to: loop)
        let deliver: Deliver = { result in remote.post { bound.value(result) } }
        guard self.desk.withLock({ $0.ask(endpoint, deliver) }) else { return }
        let status = self.onThread {
            let result = self.ordered(names.addresses(endpoint), of: endpoint.host)
            let others = self.desk.withLock { $0.ended(endpoint) }
            for asker in [deliver] + others { asker(result) }
        }
        guard status != 0 else { return }
        let error = TransportError.resolve(host: endpoint.host, detail: String(cString: strerror(status)))
        let others = self.desk.withLock { $0.ended(endpoint) }
        for asker in [deliver] + others { asker(.failure(error)) }
    }

    /// Lookups under way for a name, in this process.
    static func lookups(of endpoint: Endpoint) -> Int { self.desk.withLock { $0.count(endpoint) } }

    private static func ordered(
        _ result: Result<[SocketAddress], TransportError>,
        of host: String
    ) -> Result<[SocketAddress], TransportError> {
        guard case .success(let addresses) = result else { return result }
        guard !addresses.isEmpty else { return .failure(.resolve(host: host, detail: "it has no address")) }
        return .success(self.turn.withLock { $0.order(addresses, of: host) })
    }

    /// - Returns: 0, or why there is no thread.
    private static func onThread(_ body: @escaping @Sendable () -> Void) -> Int32 {
        var thread = pthread_t()
        let context = Unmanaged.passRetained(Request(body)).toOpaque()
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
        }
        return status
    }

    private final class Request: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) {
            self.body = body
        }
    }
}
