package import Push
package import Worker

/// What a worker's process answers on its admin port.
package struct AdminPage: Sendable {
    package struct Answer: Sendable, Equatable {
        package var status: Int
        package var contentType = "text/plain; charset=utf-8"
        package var text: String
    }

    /// The last words of each loop; empty before the workers are started.
    private let vitals: [WorkerVitals]
    private let now: MonotonicTime

    package init(_ vitals: [WorkerVitals], at now: MonotonicTime) {
        self.vitals = vitals
        self.now = now
    }

    /// - Parameters:
    ///   - path: without a query.
    ///   - metrics: the text of `/metrics`, made only if somebody asks for it.
    package func answer(method: String, path: String, metrics: (Readiness) -> String) -> Answer {
        guard ["/livez", "/readyz", "/metrics"].contains(path) else {
            return Answer(status: 404, text: "there are /livez, /readyz and /metrics\n")
        }
        guard method == "GET" || method == "HEAD" else {
            return Answer(status: 405, text: "\(path) is only to be read\n")
        }
        switch path {
        case "/livez": return self.liveness
        case "/readyz":
            let readiness = self.readiness
            return Answer(status: readiness.isReady ? 200 : 503, text: "\(readiness.text)\n")
        default:
            // As Prometheus names its text format.
            return Answer(status: 200, contentType: "text/plain; version=0.0.4", text: metrics(self.readiness))
        }
    }

    package var readiness: Readiness { .judge(all: self.vitals, at: self.now) }

    private var liveness: Answer {
        guard let silent = self.vitals.first(where: { !$0.isTurning(at: self.now) }) else {
            return Answer(status: 200, text: "ok\n")
        }
        let seconds = (self.now - silent.time).milliseconds / 1000
        return Answer(status: 503, text: "\(silent.name): its loop has not turned for \(seconds) s\n")
    }
}
