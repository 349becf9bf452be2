import Broker
import Simulator
import TestServers
import Testing
import Worker

extension EndToEnd {
    @Suite struct FairTurns {
        private static let slow = "com.example.slow"

        @Test func `An app whose pushes are never answered leaves streams to another's urgent ones, and bulk to now`()
            async throws
        {
            var options = Fleet.Options()
            options.apps.append(Self.slow)
            options.connections = 1
            options.requestTimeout = .seconds(15)
            try await Fleet.run(options) { fleet in
                try await fleet.startWorker()
                // Apple allows one stream until it has taken a first push.
                try await fleet.publish(Draft(Draft.token(1)), messageID: "first")
                try await fleet.accepted(1)
                var never = FaultRule(id: "never", action: .stall)
                never.match.topic = Self.slow
                try await fleet.simulator.addRule(never)

                try await fleet.publish(Self.many(1000, "a", app: Self.slow, lane: "bulk"), messageID: "slow-bulk")
                try await fleet.unanswered(800)
                try await fleet.publish(Self.many(300, "b", app: Self.slow, lane: "now"), messageID: "slow-now")
                try await fleet.unanswered(900)
                try await fleet.publish(Self.many(50, "c", app: Fleet.app, lane: "bulk"), messageID: "bulk")
                try await fleet.publish(Self.many(200, "d", app: Fleet.app, lane: "now"), messageID: "now")
                try await fleet.accepted(201)
                let accepted = try await fleet.simulator.requests(LedgerFilter(accepted: true, limit: 10_000))
                #expect(accepted.count { $0.token.hasPrefix("d") } == 200)
                #expect(accepted.count { $0.token.hasPrefix("c") } == 0, "the last streams are for what is urgent")
                let summary = try await fleet.simulator.summary()
                #expect(summary.requests - summary.answered == 900)

                _ = try await fleet.simulator.removeRule("never")
                try await fleet.accepted(1551)
                try await fleet.expectNothingLeft()
            }
        }

        @Test func `One busy app among fifty on a credential uses the streams that the others leave`() async throws {
            var options = Fleet.Options()
            options.apps = (0..<50).map { "com.example.app\($0)" }
            options.connections = 1
            options.requestTimeout = .seconds(15)
            try await Fleet.run(options) { fleet in
                try await fleet.startWorker()
                try await fleet.publish(Draft(Draft.token(1), app: options.apps[3]), messageID: "first")
                try await fleet.accepted(1)
                var never = FaultRule(id: "never", action: .stall)
                never.match.topic = options.apps[7]
                try await fleet.simulator.addRule(never)
                let messages = (0..<3000).map { number in
                    let draft = Draft(Draft.token(number), app: options.apps[7])
                    return Message(
                        exchange: FleetTopology.exchange,
                        routingKey: draft.routingKey,
                        properties: MessageProperties(messageID: Array("busy-\(number)".utf8)),
                        body: draft.body
                    )
                }
                let outcomes = try await fleet.session.publish(messages)
                #expect(outcomes.allSatisfy { $0 == .confirmed })
                try await fleet.unanswered(700)
                _ = try await fleet.simulator.removeRule("never")
                try await fleet.accepted(3001, within: .seconds(120))
                try await fleet.expectNothingLeft()
            }
        }

        private static func many(_ count: Int, _ prefix: String, app: String, lane: String) -> Draft {
            var draft = Draft(tokens: (0..<count).map { Draft.token($0, prefix: prefix) })
            draft.app = app
            draft.lane = lane
            return draft
        }
    }
}

extension Fleet {
    /// Waits until so many requests wait for an answer.
    fileprivate func unanswered(_ count: Int) async throws {
        try await eventually("\(count) requests in flight") {
            let summary = try await self.simulator.summary()
            return summary.requests - summary.answered >= count
        }
    }
}
