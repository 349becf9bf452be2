internal import Push

/// Reads the counters by minute.
package struct SeriesReader: Sendable {
    /// A lane's name, as counters know it.
    package static let lanes = ["now", "bulk", "unrouted"]
    /// Commands at once: Redis holds all answers of one batch in memory.
    private static let batch = 2_000

    private let session: RedisSession

    package init(_ session: RedisSession) {
        self.session = session
    }

    /// The whole fleet, with histograms.
    /// - Parameters:
    ///   - start: the first minute.
    ///   - length: how many minutes.
    package func fleet(from start: Int64, length: Int) async throws(RedisFailure) -> FleetSeries {
        try await self.read(from: start, length: length, lanes: Self.lanes) { minute, lane in
            Keys.fleetMinute(minute, lane: lane)
        }
    }

    /// Both lanes of one app, without histograms.
    package func app(_ app: String, from start: Int64, length: Int) async throws(RedisFailure) -> FleetSeries {
        try await self.read(from: start, length: length, lanes: Lane.allCases.map(\.rawValue)) { minute, lane in
            Keys.minute(minute, Keys.lane(lane, ofApp: app))
        }
    }

    /// One minute of many apps' lanes, each as its fields by name; what counted nothing has none.
    package func lanes(_ lanes: [FleetStatus.Lane], in minute: Int64) async throws(RedisFailure) -> [[String: Int64]] {
        var found: [[String: Int64]] = []
        while found.count < lanes.count {
            let some = lanes[found.count..<min(found.count + Self.batch, lanes.count)]
            let replies = try await self.session.send(
                some.map { RedisCommand("HGETALL", Keys.minute(minute, Keys.lane($0.lane, ofApp: $0.app))) }
            )
            found += replies.map(\.numbers)
        }
        return found
    }

    private func read(
        from start: Int64,
        length: Int,
        lanes: [String],
        key: (Int64, String) -> String
    ) async throws(RedisFailure) -> FleetSeries {
        var series = FleetSeries(start: start, length: length)
        let places = (0..<Int64(series.length)).flatMap { offset in lanes.map { (start + offset, $0) } }
        var next = 0
        while next < places.count {
            let some = places[next..<min(next + Self.batch, places.count)]
            next += some.count
            let replies = try await self.session.send(some.map { RedisCommand("HGETALL", key($0.0, $0.1)) })
            for (place, reply) in zip(some, replies) {
                series.add(reply.numbers, minute: place.0, lane: place.1)
            }
        }
        return series
    }
}
