import Glibc
import Hummingbird
import Logging
import NIOCore

/// A plain Hummingbird server that answers every POST with its body: what the gateway's cost is compared with.
/// Prints `port=<number>`.
@main struct EchoRoute {
    static func main() async throws {
        let router = Router()
        router.post("/") { request, _ in
            let body = try await request.body.collect(upTo: 1 << 20)
            return Response(
                status: .ok,
                headers: [.contentType: "text/plain", .contentLength: "\(body.readableBytes)"],
                body: ResponseBody(byteBuffer: body)
            )
        }
        let application = Application(
            router: router,
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                // Without a buffer: whoever started this waits for it.
                let line = Array("port=\(channel.localAddress?.port ?? 0)\n".utf8)
                _ = write(STDOUT_FILENO, line, line.count)
            },
            logger: Logger(label: "echo") { _ in SwiftLogNoOpLogHandler() }
        )
        try await application.runService()
    }
}
