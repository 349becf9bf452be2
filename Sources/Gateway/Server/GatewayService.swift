internal import Loop
internal import Push

/// What the gateway answers, whoever brings the requests.
final class GatewayService: Sendable {
    let settings: GatewaySettings
    let desk: GatewayDesk
    let metrics: Metrics
    let rate: CallRate

    init(_ settings: GatewaySettings, desk: GatewayDesk, metrics: Metrics) {
        self.settings = settings
        self.desk = desk
        self.metrics = metrics
        self.rate = CallRate(settings.keys)
    }

    /// `/livez`, `/readyz`, `/metrics`.
    func probe(_ path: String) async -> OutgoingAnswer {
        switch path {
        case "/metrics":
            var answer = OutgoingAnswer.text(self.metrics.text)
            answer.contentType = "text/plain; version=0.0.4; charset=utf-8"
            return answer
        case "/readyz":
            let obstacles = await self.desk.ask { core, completion in completion(core.obstacles) }
            guard !obstacles.isEmpty else { return .text("ok\n") }
            return .text(obstacles.map { $0 + "\n" }.joined(), status: 503)
        default: return .text("ok\n")
        }
    }

    func tooLarge() -> OutgoingAnswer {
        var answer = OutgoingAnswer.text("too large\n", status: 413)
        answer.closes = true
        return answer
    }

    func answer(_ request: IncomingRequest) async -> OutgoingAnswer {
        .text("not yet\n", status: 501)
    }
}
