internal import Loop
internal import Push
package import Wire

/// Connects, shakes hands and leaves: whether a server is there and is who it should be.
package enum ConnectionProbe {
    /// Why the server cannot be used.
    package enum Failure: Error, Equatable, Sendable, CustomStringConvertible {
        /// Our own files.
        case context(TLSContextError)
        case transport(TransportError)

        package var description: String {
            switch self {
            case .context(let error): error.description
            case .transport(let error): error.description
            }
        }
    }

    /// Connects to a server with TLS and sends nothing.
    ///
    /// - Parameters:
    ///   - caFile: PEM file of the authorities to trust; nil for the system's.
    ///   - proxy: the HTTP proxy on the way.
    ///   - alpn: the protocol the server must take, such as `h2`.
    /// - Returns: how long it took, from the first packet to the end of the handshake.
    package static func shakeHands(
        with endpoint: Endpoint,
        caFile: String?,
        alpn: String?,
        proxy: Proxy? = nil,
        timeout: Duration,
        bench: Bench
    ) async -> Result<Duration, Failure> {
        await bench.ask { loop, answer in
            let tls: TLSContext
            do throws(TLSContextError) {
                tls = try TLSContext.client(trusting: caFile, alpn: alpn)
            } catch {
                return answer(.failure(.context(error)))
            }
            var settings = Transport.Settings()
            settings.connectTimeout = timeout
            settings.proxy = proxy
            let visit = Visit(start: MonotonicClock.now(), answer: answer)
            visit.transport = Transport(
                connectingTo: endpoint,
                tls: tls,
                settings: settings,
                on: loop,
                delegate: visit
            )
        }
    }

    private final class Visit: TransportDelegate {
        private let start: MonotonicTime
        private let answer: (Result<Duration, Failure>) -> Void
        /// Holds the connection while it is under way; both let go of each other at its end.
        var transport: Transport?

        init(start: MonotonicTime, answer: @escaping (Result<Duration, Failure>) -> Void) {
            self.start = start
            self.answer = answer
        }

        func transportDidOpen(_ transport: Transport) {
            transport.close()
            self.end(.success(MonotonicClock.now() - self.start))
        }

        func transport(_ transport: Transport, didReceive bytes: UnsafeRawBufferPointer) {}

        func transport(_ transport: Transport, didClose error: TransportError) {
            self.end(.failure(.transport(error)))
        }

        private func end(_ result: Result<Duration, Failure>) {
            self.transport = nil
            self.answer(result)
        }
    }
}
