internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import Push
internal import SNS
internal import Wire

/// Posts to subscribers. A name is looked up and every address checked before anything is sent there; the connection goes
/// to the very address that was checked, so that a name that means something else a moment later leads nowhere.
actor WebhookSender {
    private struct Place: Hashable {
        let host: String
        let address: String
    }

    /// A client knows one host under one address.
    private struct Line {
        let client: HTTPClient
        var uses = 0
        var lastUse = ContinuousClock.now
    }

    private let settings: WebhookSettings
    private let names: NameService
    private var lines: [Place: Line] = [:]
    private var known: [String: (addresses: [String], time: ContinuousClock.Instant)] = [:]
    private var isStopped = false

    /// Bytes of an answer that are read, for the connection to be of further use.
    private static let answerLimit = 64 * 1024
    private static let nameLife = Duration.seconds(30)
    private static let idleLife = Duration.seconds(60)

    init(_ settings: WebhookSettings, names: NameService = .system) {
        self.settings = settings
        self.names = names
    }

    /// Whether something may be posted there; nil if nobody knows the name right now.
    func permits(_ url: WebhookURL) async -> Bool? {
        guard let addresses = await self.addresses(url) else { return nil }
        return !self.permitted(addresses, url).isEmpty
    }

    func post(_ request: WebhookRequest, to text: String, attempt: Int) async -> WebhookOutcome {
        guard let url = WebhookURL(text) else { return .failed("The endpoint is no URL", code: "url", isFinal: true) }
        guard let addresses = await self.addresses(url) else {
            return .failed("The endpoint's name has no address", code: "name", isFinal: false)
        }
        let permitted = self.permitted(addresses, url)
        guard !permitted.isEmpty else {
            return .failed("The endpoint's address is not allowed", code: "address", isFinal: true)
        }
        guard !self.isStopped else { return .failed("The gateway stops", code: "stopped", isFinal: false) }
        let place = Place(host: url.host, address: permitted[attempt % permitted.count])
        self.closeIdle()
        let client = self.take(place)
        let outcome = await Self.send(request, url, client, self.settings.timeout)
        self.release(place)
        return outcome
    }

    private static func send(
        _ request: WebhookRequest,
        _ url: WebhookURL,
        _ client: HTTPClient,
        _ timeout: Duration
    ) async -> WebhookOutcome {
        var http = HTTPClientRequest(url: url.withoutUserInfo)
        http.method = .POST
        for (name, value) in request.headers { http.headers.add(name: name, value: value) }
        if let userInfo = url.userInfo?.removingPercentEncoding {
            http.headers.add(name: "Authorization", value: "Basic \(Data(userInfo.utf8).base64EncodedString())")
        }
        http.body = .bytes(request.body)
        do {
            let response = try await client.execute(
                http,
                deadline: .now() + .nanoseconds(timeout.nanoseconds)
            )
            let outcome = WebhookOutcome(status: Int(response.status.code))
            // The verdict is there; what follows only decides whether the connection can be used again.
            await Self.drain(response.body)
            return outcome
        } catch {
            return .failed("The endpoint did not answer", code: "connection", isFinal: false)
        }
    }

    private static func drain(_ body: HTTPClientResponse.Body) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                var count = 0
                do {
                    for try await part in body {
                        count += part.readableBytes
                        if count > Self.answerLimit { return }
                    }
                } catch {}
            }
            group.addTask { try? await Task.sleep(for: .seconds(1)) }
            await group.next()
            group.cancelAll()
        }
    }

    // MARK: Names

    private func permitted(_ addresses: [String], _ url: WebhookURL) -> [String] {
        addresses.filter { self.settings.rules.allows(host: url.host, address: $0) }
    }

    /// Nil for none.
    private func addresses(_ url: WebhookURL) async -> [String]? {
        if CIDR.isAddress(url.host) { return [url.host] }
        if let known = self.known[url.host], ContinuousClock.now - known.time < Self.nameLife { return known.addresses }
        let (names, endpoint) = (self.names, Endpoint(host: url.host, port: UInt16(url.port)))
        let found = try? await NIOThreadPool.singleton.runIfActive { try names.addresses(endpoint).get() }
        let addresses = (found ?? []).compactMap(\.numericHost)
        guard !addresses.isEmpty else { return nil }
        if self.known.count >= 1000 { self.known.removeAll() }
        self.known[url.host] = (addresses, ContinuousClock.now)
        return addresses
    }

    // MARK: Clients

    private func take(_ place: Place) -> HTTPClient {
        if var line = self.lines[place] {
            line.uses += 1
            self.lines[place] = line
            return line.client
        }
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: HTTPClient.Configuration.Timeout(
                connect: .seconds(5),
                read: .nanoseconds(self.settings.timeout.nanoseconds)
            ),
            decompression: .disabled
        )
        configuration.httpVersion = .http1Only
        configuration.dnsOverride = place.host == place.address ? [:] : [place.host: place.address]
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = self.settings.requestsPerHost
        configuration.connectionPool.idleTimeout = .seconds(20)
        configuration.connectionPool.retryConnectionEstablishment = false
        var tls = TLSConfiguration.makeClientConfiguration()
        if let file = self.settings.caFile { tls.additionalTrustRoots = [.file(file)] }
        configuration.tlsConfiguration = tls
        let client = HTTPClient(
            eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton),
            configuration: configuration
        )
        self.lines[place] = Line(client: client, uses: 1)
        return client
    }

    private func release(_ place: Place) {
        self.lines[place]?.uses -= 1
        self.lines[place]?.lastUse = .now
    }

    private func closeIdle() {
        let limit = ContinuousClock.now - Self.idleLife
        for (place, line) in self.lines where line.uses == 0 && line.lastUse < limit {
            self.lines[place] = nil
            Task { try? await line.client.shutdown() }
        }
    }

    /// Ends what is under way, and all connections.
    func stop() async {
        self.isStopped = true
        let lines = self.lines.values
        self.lines = [:]
        for line in lines { try? await line.client.shutdown() }
    }
}
