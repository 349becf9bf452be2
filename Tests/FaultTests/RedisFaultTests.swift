import Foundation
import Simulator
import TestServers
import Testing

extension FaultTests {
    @Suite("Redis")
    struct RedisFaults {
        private static let leaseEnded = "Lease ended without a renewal"

        @Test("F39: without Redis sending stops at the lease's end, and goes on when it is back")
        func away() async throws {
            try await Fleet.run(latency: .seconds(1)) { fleet in
                let worker = try fleet.startWorker()
                try await fleet.publish(5000)
                try await fleet.waitForInFlight(1000)
                let start = ContinuousClock.now
                try fleet.redis.shutDown()
                let stopped = try await eventually("all connections are closed") { try await fleet.connections() == 0 }
                let requests = try await fleet.simulator.summary().requests
                #expect(worker.lines(Self.leaseEnded).count == 1)
                try await eventually("it is away for longer than the lease") {
                    ContinuousClock.now - start > Fleet.lease + .seconds(1)
                }
                #expect(try await fleet.simulator.summary().requests == requests)
                #expect(try await fleet.simulator.summary().connectionsOpen == 0)
                try fleet.redis.start()
                let inFlight = try await fleet.cutOff()
                #expect(inFlight > 0)
                let resumed = try await eventually("sending goes on") {
                    return try await fleet.simulator.summary().requests > requests
                }
                let verdict = try await fleet.finish()
                verdict.show(
                    "F39 Redis away",
                    "connections closed after \(stopped.seconds) with \(inFlight) in flight, "
                        + "sending \(resumed.seconds) after its return"
                )
                // Answers that were on their way when the worker closed are lost as well; it says so itself.
                let possible = try fleet.counters()["possible_duplicates"] ?? 0
                verdict.expectNothingLost(duplicates: max(inFlight, possible))
            }
        }

        @Test("F40: FLUSHALL closes no connection and grants none twice")
        func flushed() async throws {
            try await Fleet.run(latency: .seconds(1)) { fleet in
                let worker = try fleet.startWorker()
                try await fleet.publish(3000)
                try await eventually("the whole budget is in use") {
                    try await fleet.topUp()
                    return try await fleet.connections() == Fleet.budget
                }
                let before = try await fleet.simulator.summary()
                try fleet.redis.cli("FLUSHALL")
                // Another worker, which must not get what the first one still holds.
                let other = try fleet.startWorker()
                try await eventually("Redis knows that it may have lost leases") {
                    try await fleet.topUp()
                    return try fleet.isQuarantined()
                }
                try await eventually("sending goes on meanwhile") {
                    try await fleet.topUp()
                    return try await fleet.simulator.summary().answered > before.answered + 1000
                }
                #expect(worker.lines(Self.leaseEnded).isEmpty)
                #expect(worker.lines("Connection to APNs closed").isEmpty)
                try await eventually("both share") {
                    try await fleet.topUp()
                    return try fleet.grants().filter { $0 > 0 }.count == 2
                }
                let verdict = try await fleet.finish()
                verdict.show("F40 FLUSHALL", "quarantine seen, \(before.connectionsOpen) connections stayed open")
                verdict.expectNothingLost()
                #expect(other.end == .exit(0))
            }
        }

        @Test("F41: Redis restarts empty under load")
        func restartedEmpty() async throws {
            try await Fleet.run(redis: try PrivateRedis(volatile: true), latency: .milliseconds(300)) { fleet in
                let workers = [try fleet.startWorker(), try fleet.startWorker()]
                try await fleet.publish(4000)
                try await fleet.waitForAccepted(500)
                try fleet.redis.kill()
                try fleet.redis.start()
                #expect(try fleet.redis.cli("INFO", "server").contains("uptime_in_seconds"))
                try await eventually("Redis knows that it may have lost leases") {
                    try await fleet.topUp()
                    return try fleet.isQuarantined()
                }
                let inFlight = try await fleet.inFlight()
                try await eventually("both have leases again") {
                    try await fleet.topUp()
                    return try !fleet.isQuarantined() && fleet.grants().filter { $0 > 0 }.count == 2
                }
                let verdict = try await fleet.finish()
                let cutOff = try await fleet.cutOff()
                let possible = try fleet.counters()["possible_duplicates"] ?? 0
                let ends = workers.reduce(0) { $0 + $1.lines(Self.leaseEnded).count }
                verdict.show("F41 Redis restarts empty", "quarantine seen, \(inFlight) in flight, \(ends) leases ended")
                // Connections that are closed at a lease's end leave pushes without an answer.
                verdict.expectNothingLost(duplicates: max(cutOff, possible))
            }
        }

        @Test("F43: a lost script cache is filled again and nobody notices")
        func scriptsFlushed() async throws {
            try await Fleet.run(latency: .milliseconds(300)) { fleet in
                let worker = try fleet.startWorker()
                try await fleet.publish(3000)
                try await fleet.waitForAccepted(300)
                let before = try fleet.noScriptErrors()
                try fleet.redis.cli("SCRIPT", "FLUSH")
                try await eventually("a script was missing") { try fleet.noScriptErrors() > before }
                let verdict = try await fleet.finish()
                verdict.show("F43 SCRIPT FLUSH", "NOSCRIPT answered \(try fleet.noScriptErrors() - before) times")
                verdict.expectNothingLost()
                #expect(worker.lines(Self.leaseEnded).isEmpty)
                #expect(worker.lines("warning").isEmpty)
            }
        }

        @Test("F46: with a wrong password a worker waits, says why once, and runs nothing as the open default user")
        func wrongPassword() async throws {
            let redis = try PrivateRedis()
            try redis.cli("ACL", "SETUSER", "worker", "on", ">right", "~*", "&*", "+@all")
            try await Fleet.run(redis: redis, login: "worker:wrong@", latency: .milliseconds(100)) { fleet in
                try redis.cli("CONFIG", "RESETSTAT")
                let worker = try fleet.startWorker()
                try await fleet.publish(500)
                try await eventually("three attempts were refused") { try fleet.refusedLogins() >= 3 }
                let commands = try redis.cli("INFO", "commandstats")
                for name in ["evalsha", "eval", "hset", "client|setname", "get"] {
                    #expect(!commands.contains("cmdstat_\(name):"), "\(name) was run")
                }
                let refused = try fleet.refusedLogins()
                #expect(try fleet.grants().isEmpty)
                #expect(try await fleet.simulator.summary().connectionsOpened == 0)
                #expect(worker.end == nil)
                #expect(worker.lines("WRONGPASS").count == 1)
                #expect(!worker.log.contains("wrong@") && !worker.log.contains("worker:wrong"))
                try redis.cli("ACL", "SETUSER", "worker", "resetpass", ">wrong")
                let verdict = try await fleet.finish()
                verdict.show("F46 wrong password", "\(refused) logins refused, nothing sent; then all")
                verdict.expectNothingLost()
            }
        }
    }
}

extension Fleet {
    func noScriptErrors() throws -> Int { try self.errors("NOSCRIPT") }
    func refusedLogins() throws -> Int { try self.errors("WRONGPASS") }

    /// How often Redis has answered with an error.
    private func errors(_ kind: String) throws -> Int {
        let text = try self.redis.cli("INFO", "errorstats")
        guard let place = text.firstRange(of: "errorstat_\(kind):count=") else { return 0 }
        return Int(text[place.upperBound...].prefix { $0.isNumber }) ?? 0
    }
}
