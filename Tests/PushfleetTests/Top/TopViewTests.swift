internal import Push
internal import Testing

@testable import Broker
@testable import Desk
@testable import Store
@testable import pushfleet

@Suite struct TopViewTests {
    private static func status(at seconds: Int64, app: String = "shop", _ fields: [String: Int64]) -> FleetStatus {
        FleetStatus(
            time: UnixTime(milliseconds: seconds * 1000),
            lanes: [FleetStatus.Lane(app: app, lane: "now", fields: fields)],
            workers: [],
            pools: []
        )
    }

    private static func view(_ now: FleetStatus?, before: FleetStatus? = nil) -> TopView {
        TopView(before: before, now: FleetSnapshot(queues: nil, fleet: now), budgets: [])
    }

    /// The words of the line that begins so.
    private static func words(_ lines: [String], _ start: String) -> [String] {
        (lines.first { $0.hasPrefix(start) } ?? "").split(separator: " ").map(String.init)
    }

    @Test func `Rates are what came between two moments`() {
        let before = Self.status(at: 100, ["received": 1000, "attempts": 990, "delivered": 900])
        let now = Self.status(
            at: 102,
            ["received": 1200, "attempts": 1100, "delivered": 903, "answered.Unregistered": 7]
        )
        let lines = Self.view(now, before: before).lines(width: 200)
        #expect(Self.words(lines, "per second").dropFirst(2).prefix(3) == ["100", "55", "1.5"])
        #expect(Self.words(lines, "ever").dropFirst().prefix(3) == ["1200", "1100", "903"])
        #expect(Self.words(lines, "Apple said") == ["Apple", "said", "Unregistered", "3.5", "7"])
        #expect(Self.words(lines, "shop") == ["shop", "now", "-", "0", "100", "1.5", "0", "0"])
    }

    @Test func `One moment has totals and no rates; counters that were lost begin anew`() {
        let now = Self.status(at: 102, ["received": 10])
        let first = Self.view(now).lines(width: 200)
        #expect(Self.words(first, "per second").dropFirst(2).allSatisfy { $0 == "-" })
        let reset = Self.view(now, before: Self.status(at: 100, ["received": 5000])).lines(width: 200)
        #expect(Self.words(reset, "per second").dropFirst(2).first == "5")
    }

    @Test func `Lines fit the terminal`() {
        let lines = Self.view(Self.status(at: 1, ["received": 1])).lines(width: 20, height: 4)
        #expect(lines.count == 4 && lines.allSatisfy { $0.count <= 20 })
        #expect(Self.view(nil).lines(width: 0, height: 0).isEmpty)
    }

    @Test func `Hostile names and reasons are shown and do nothing`() {
        let evil = "\u{1B}[2J\u{7}\n\u{202E}x"
        let now = Self.status(at: 1, app: evil, ["received": 1, "answered.\(evil)": 2])
        var view = Self.view(now)
        view.problems = ["no \(evil)"]
        let lines = view.lines(width: 500)
        #expect(lines.contains { $0.contains("\\u{1b}[2J\\u{7}\\u{a}\\u{202e}x") })
        #expect(lines.allSatisfy { $0.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value < 0x7f } })
    }

    @Test func `Without Redis there is what RabbitMQ knows, and why`() {
        let queue = QueueStatus(name: "pushfleet.dead", role: .dead, depth: .init(messages: 7, consumers: 0))
        let snapshot = FleetSnapshot(queues: [queue], fleet: nil)
        let lines = TopView(before: nil, now: snapshot, budgets: [], problems: ["no route"]).lines(width: 100)
        #expect(lines[0].contains("Redis does not answer") && lines[1] == "! no route")
        #expect(Self.words(lines, "pushfleet.dead") == ["pushfleet.dead", "7", "0"])
    }

    @Test func `Workers that have most in flight come first, and the rest is counted`() {
        var status = Self.status(at: 1000, [:])
        status.workers = (0..<15).map { number in
            var beat = WorkersReportTests.beat("worker\(number)-id", host: "h\(number)")
            beat.inFlight = ["shop.now": number]
            return beat
        }
        let lines = Self.view(status).lines(width: 200)
        let hosts = lines.compactMap { line in line.firstRange(of: /h[0-9]+:7/).map { String(line[$0]) } }
        #expect(hosts.first == "h14:7" && hosts.count == 10)
        #expect(lines.contains { $0.hasSuffix("5 more workers") })
    }

    @Test func `A frame covers what stood there and does not roll the page`() {
        #expect(TopScreen.frame(["a", "b"]) == "\u{1B}[Ha\u{1B}[K\r\nb\u{1B}[K\u{1B}[J")
        #expect(TopScreen.enter.contains("?1049h") && TopScreen.leave.contains("?1049l"))
    }
}
