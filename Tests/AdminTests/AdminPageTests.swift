import Push
import Store
import Testing
import Worker

@testable import Admin

@Suite struct AdminPageTests {
    private static let now = MonotonicTime(nanoseconds: 1_000_000_000_000)

    private static func vitals(age: Duration = .seconds(1)) -> WorkerVitals {
        var vitals = WorkerVitals(name: "host:1", time: Self.now - age)
        vitals.isConsumeConnected = true
        vitals.isPublishConnected = true
        vitals.isRedisUp = true
        vitals.arePausesKnown = true
        var pool = WorkerVitals.Pool(name: "a \"b\"\n", allowed: 2, held: 1, streams: 3, streamLimit: 100)
        pool.leaseEnds = Self.now + .milliseconds(2500)
        (pool.renewals, pool.failedRenewals) = (40, 1)
        vitals.pools = [pool]
        let counts: [String: Int64] = [
            "delivered": 7, "apns_latency.le_50": 2, "apns_latency.le_inf": 1, "apns_latency.sum": 20_080,
        ]
        vitals.lanes = [FleetStatus.Lane(app: "", lane: "now", fields: counts)]
        vitals.wantedQueues = 1
        vitals.consumedQueues = 1
        return vitals
    }

    private static func ask(_ path: String, _ vitals: [WorkerVitals], method: String = "GET") -> AdminPage.Answer {
        AdminPage(vitals, at: Self.now).answer(method: method, path: path) { "ready=\($0.isReady)" }
    }

    @Test func `Probes say 200, or 503 and why`() {
        #expect(Self.ask("/livez", [Self.vitals()]) == AdminPage.Answer(status: 200, text: "ok\n"))
        #expect(Self.ask("/readyz", [Self.vitals()]).status == 200)
        #expect(Self.ask("/readyz", []).status == 503)
        #expect(Self.ask("/livez", []).status == 200, "a process that starts lives")
        let hung = [Self.vitals(), Self.vitals(age: .seconds(30))]
        #expect(Self.ask("/livez", hung).status == 503)
        #expect(Self.ask("/livez", hung).text.contains("30 s"))
        #expect(Self.ask("/readyz", hung).status == 503)
        #expect(Self.ask("/metrics", hung).text == "ready=false")
    }

    @Test func `Other paths and methods are refused`() {
        #expect(Self.ask("/", []).status == 404)
        #expect(Self.ask("/livez/", []).status == 404)
        #expect(Self.ask("/livez", [], method: "POST").status == 405)
        #expect(Self.ask("/livez", [], method: "HEAD").status == 200)
    }

    @Test func `Metrics have the contract's names, units in seconds, and escaped labels`() {
        var process = ProcessFigures(startedAt: UnixTime(milliseconds: 1_500))
        process.cpuTime = .milliseconds(250)
        let text = WorkerMetrics(
            [Self.vitals(), Self.vitals()],
            readiness: .ready(""),
            lags: [.milliseconds(5), .zero],
            process: process,
            version: "1.2.3",
            at: Self.now
        ).text
        let lines = text.split(separator: "\n").map(String.init)
        let pool = #"{pool="a \"b\"\n"}"#
        for line in [
            #"pushfleet_worker_build_info{version="1.2.3"} 1"#, "pushfleet_worker_ready 1",
            "pushfleet_worker_in_flight 6", "pushfleet_worker_redis_up 1",
            #"pushfleet_worker_amqp_up{connection="consume"} 1"#, "pushfleet_worker_connections\(pool) 2",
            "pushfleet_worker_streams\(pool) 6", "pushfleet_worker_stream_limit\(pool) 200",
            "pushfleet_worker_lease_connections\(pool) 4", "pushfleet_worker_lease_remaining_seconds\(pool) 2.5",
            #"pushfleet_worker_lease_renewals_total{pool="a \"b\"\n",result="failed"} 2"#,
            #"pushfleet_worker_loop_lag_seconds{loop="1"} 0.005"#, "process_start_time_seconds 1.5",
            #"pushfleet_worker_notifications_total{lane="now",outcome="delivered"} 14"#,
            #"pushfleet_worker_notifications_total{lane="now",outcome="retried"} 0"#,
            #"pushfleet_worker_apns_latency_seconds_bucket{lane="now",le="0.05"} 4"#,
            #"pushfleet_worker_apns_latency_seconds_bucket{lane="now",le="+Inf"} 6"#,
            #"pushfleet_worker_apns_latency_seconds_sum{lane="now"} 40.16"#,
            "process_cpu_seconds_total 0.25", "# TYPE process_cpu_seconds_total counter",
        ] {
            #expect(lines.contains(line), "\(line)")
        }
    }

    @Test func `The system says how much this process uses`() {
        let figures = ProcessFigures.now(startedAt: UnixTime(milliseconds: 0))
        #expect(figures.residentBytes > 1 << 20)
        #expect(figures.openFiles > 2 && figures.openFiles <= figures.maximumFiles)
        #expect(figures.cpuTime > .zero)
    }
}
