internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import Loop
internal import NIOCore
internal import Push
internal import Worker

/// Takes requests from Hummingbird and hands answers back. Bodies are not read.
struct AdminResponder: HTTPResponder {
    typealias Context = BasicRequestContext

    let workers: @Sendable () -> [Worker]
    let version: String
    let startedAt: UnixTime

    func respond(to request: Request, context: Context) async throws -> Response {
        let path = (request.head.path ?? "/").prefix { $0 != "?" }
        let workers = self.workers()
        let vitals = workers.compactMap(\.vitals)
        let now = MonotonicClock.now()
        let page = AdminPage(vitals, at: now)
        let answer = page.answer(method: request.method.rawValue, path: String(path)) { readiness in
            WorkerMetrics(
                vitals,
                readiness: readiness,
                lags: workers.map { $0.takeLag() },
                process: .now(startedAt: self.startedAt),
                version: self.version,
                at: now
            ).text
        }
        var fields = HTTPFields()
        fields[.contentType] = answer.contentType
        fields[.cacheControl] = "no-store"
        let bytes = Array(answer.text.utf8)
        fields[.contentLength] = String(bytes.count)
        let body = request.method == .head ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
        return Response(status: HTTPResponse.Status(code: answer.status), headers: fields, body: body)
    }
}
