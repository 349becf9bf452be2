internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import Loop
internal import NIOCore
internal import Push

/// Takes requests from Hummingbird and hands answers back. There is no router: nearly every request is for `/`.
struct GatewayResponder: HTTPResponder {
    typealias Context = BasicRequestContext

    /// A message of 256 KiB grows threefold when it is percent-encoded; the rest is for attributes and the signature.
    static let bodyLimit = 1 << 20

    let service: GatewayService

    func respond(to request: Request, context: Context) async throws -> Response {
        let target = request.head.path ?? "/"
        let split = target.firstIndex(of: "?") ?? target.endIndex
        var path = String(target[..<split])
        if path.isEmpty { path = "/" }
        switch path {
        case "/livez", "/readyz", "/metrics":
            if request.method == .get { return Self.response(await self.service.probe(path)) }
        case _ where path.hasPrefix(SigningKey.prefix):
            if request.method == .get { return Self.response(self.service.certificate(path)) }
        default: break
        }
        guard let body = try await Self.body(request) else { return Self.response(self.service.tooLarge()) }
        let incoming = IncomingRequest(
            method: request.method.rawValue,
            path: path,
            query: split == target.endIndex ? "" : String(target[target.index(after: split)...]),
            headers: Self.headers(request),
            body: body,
            time: MonotonicClock.now()
        )
        return Self.response(await self.service.answer(incoming))
    }

    /// All of the body; nil if it is too large.
    private static func body(_ request: Request) async throws -> [UInt8]? {
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > Self.bodyLimit { return nil }
        var body: [UInt8] = []
        for try await part in request.body {
            guard body.count + part.readableBytes <= Self.bodyLimit else { return nil }
            body.append(contentsOf: part.readableBytesView)
        }
        return body
    }

    private static func headers(_ request: Request) -> [(name: String, value: String)] {
        var headers: [(name: String, value: String)] = []
        headers.reserveCapacity(request.headers.count + 1)
        // HTTP/1's Host header stands apart from the others.
        if let authority = request.head.authority { headers.append(("host", authority)) }
        for field in request.headers { headers.append((field.name.canonicalName, field.value)) }
        return headers
    }

    private static func response(_ answer: OutgoingAnswer) -> Response {
        var headers = HTTPFields()
        headers[.contentType] = answer.contentType
        headers[.contentLength] = String(answer.body.count)
        if let id = answer.requestID { headers[Self.requestID] = id }
        if answer.closes { headers[.connection] = "close" }
        return Response(
            status: HTTPResponse.Status(code: answer.status),
            headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body))
        )
    }

    // Amazon's name for it; it is a token, so there is one.
    private static let requestID = HTTPField.Name("x-amzn-RequestId") ?? .contentLocation
}
