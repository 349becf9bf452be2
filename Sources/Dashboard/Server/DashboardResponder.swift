internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import Loop
internal import NIOCore
internal import Push

/// Takes calls from Hummingbird and hands answers back.
struct DashboardResponder: HTTPResponder {
    /// Knows where a connection comes from.
    struct Context: RequestContext {
        var coreContext: CoreRequestContextStorage
        let address: String

        init(source: Source) {
            self.coreContext = CoreRequestContextStorage(source: source)
            self.address = source.channel.remoteAddress?.ipAddress ?? "unknown"
        }
    }

    let service: DashboardService

    func respond(to request: Request, context: Context) async throws -> Response {
        let target = request.head.path ?? "/"
        let split = target.firstIndex(of: "?") ?? target.endIndex
        var call = Call(
            method: request.method.rawValue,
            path: String(target[..<split]),
            query: split == target.endIndex ? "" : String(target[target.index(after: split)...]),
            headers: Self.headers(request),
            address: context.address,
            isTLS: self.service.parts.settings.tls != nil,
            time: MonotonicClock.now()
        )
        if let file = PageFiles.answer(call) { return Self.response(file, isFile: true) }
        guard let body = try await Self.body(request, limit: self.service.bodyLimit(call)) else {
            var answer = Answer.problem(.tooLarge)
            // What is left of the body would be read to its end otherwise.
            answer.closes = true
            return Self.response(answer, isFile: false)
        }
        call.body = body
        return Self.response(await self.service.answer(call), isFile: false)
    }

    /// All of the body; nil if it is too large.
    private static func body(_ request: Request, limit: Int) async throws -> [UInt8]? {
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > limit { return nil }
        var body: [UInt8] = []
        for try await part in request.body {
            guard body.count + part.readableBytes <= limit else { return nil }
            body.append(contentsOf: part.readableBytesView)
        }
        return body
    }

    private static func headers(_ request: Request) -> [(name: String, value: String)] {
        var headers: [(name: String, value: String)] = []
        // HTTP/1's Host header stands apart from the others.
        if let authority = request.head.authority { headers.append(("host", authority)) }
        for field in request.headers { headers.append((field.name.canonicalName, field.value)) }
        return headers
    }

    private static func response(_ answer: Answer, isFile: Bool) -> Response {
        var fields = HTTPFields()
        for (name, value) in SecurityHeaders.all { Self.add(name, value, to: &fields) }
        if !isFile { fields[.cacheControl] = "no-store" }
        for (name, value) in answer.headers { Self.add(name, value, to: &fields) }
        if answer.closes { fields[.connection] = "close" }
        let status = HTTPResponse.Status(code: answer.status)
        guard answer.status != 204, answer.status != 304 else { return Response(status: status, headers: fields) }
        fields[.contentType] = answer.contentType
        switch answer.body {
        case .bytes(let bytes):
            fields[.contentLength] = String(bytes.count)
            return Response(
                status: status,
                headers: fields,
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
            )
        case .events(let events):
            let body = ResponseBody { writer in
                for await event in events { try await writer.write(ByteBuffer(string: event)) }
                try await writer.finish(nil)
            }
            return Response(status: status, headers: fields, body: body)
        }
    }

    private static func add(_ name: String, _ value: String, to fields: inout HTTPFields) {
        guard let name = HTTPField.Name(name) else { return }
        fields.append(HTTPField(name: name, value: value))
    }
}

/// What every answer carries, see API.md.
enum SecurityHeaders {
    static let policy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'",
        "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ].joined(separator: "; ")

    static let all = [
        ("content-security-policy", policy), ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"), ("x-frame-options", "DENY"),
        ("cross-origin-opener-policy", "same-origin"), ("cross-origin-resource-policy", "same-origin"),
        ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
    ]
}

extension PageFiles {
    /// The page's document or one of its files; nil if the path is neither's.
    static func answer(_ call: Call) -> Answer? {
        guard call.path == "/" || call.path.isEmpty || call.path.hasPrefix("/page/") else { return nil }
        guard call.method == "GET" else {
            return .problem(Problem(status: 405, code: .badRequest, error: "files are only to be read"))
        }
        let name = call.path.hasPrefix("/page/") ? String(call.path.dropFirst("/page/".count)) : Self.document
        guard let file = Self.file(name) else { return .problem(.notFound("there is no such file")) }
        let headers = [("cache-control", "no-cache"), ("etag", file.tag)]
        let known = call.headers("if-none-match").joined(separator: ",")
        guard known != "*", !known.split(separator: ",").contains(where: { $0.contains(file.tag) }) else {
            return Answer(status: 304, headers: headers)
        }
        return Answer(contentType: file.contentType, headers: headers, body: .bytes(file.bytes))
    }
}
