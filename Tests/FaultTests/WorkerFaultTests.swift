import Foundation
import Simulator
import TestServers
import Testing

extension FaultTests {
    @Suite("A worker's process")
    struct WorkerFaults {
        @Test("F01: a worker killed with a thousand in flight loses nothing, and its share comes back")
        func killed() async throws {
            try await Fleet.run(latency: .seconds(4)) { fleet in
                let (victim, survivor) = (try fleet.startWorker(), try fleet.startWorker())
                try await fleet.publish(6000)
                try await eventually("both have connections") { try fleet.grants().filter { $0 == 2 }.count == 2 }
                // Each holds 1,500 at most, so that this is a thousand at least for either.
                try await fleet.waitForInFlight(2500)
                victim.signal(SIGKILL)
                #expect(try await victim.waitForEnd().end == .signal(SIGKILL))
                let inFlight = try await fleet.cutOff(connections: 2)
                let back = try await eventually("the survivor has the whole budget") {
                    try await fleet.topUp()
                    return try await fleet.connections() == Fleet.budget
                }
                let verdict = try await fleet.finish()
                verdict.show("F01 kill -9", "\(inFlight) in flight, share back after \(back.seconds)")
                verdict.expectNothingLost(duplicates: inFlight)
                // What the victim's connections still held when it died.
                #expect(inFlight >= 250)
                #expect(survivor.end == .exit(0))
            }
        }

        @Test("F04: SIGTERM with a thousand in flight sends nothing twice and gives the lease back at once")
        func terminated() async throws {
            try await Fleet.run(latency: .milliseconds(1500)) { fleet in
                let first = try fleet.startWorker()
                try await fleet.publish(6000)
                try await fleet.waitForInFlight(1000)
                let inFlight = try await fleet.inFlight()
                first.signal(SIGTERM)
                let (end, drain) = try await first.waitForEnd()
                #expect(end == .exit(0))
                #expect(try fleet.grants().allSatisfy { $0 == 0 })
                let second = try fleet.startWorker()
                let whole = try await eventually("the second worker has the whole budget") {
                    try await fleet.topUp()
                    return try fleet.grants().reduce(0, +) == Fleet.budget
                }
                let verdict = try await fleet.finish()
                verdict.show(
                    "F04 SIGTERM",
                    "\(inFlight) in flight, exit 0 after \(drain.seconds), another has the budget \(whole.seconds) after start"
                )
                verdict.expectNothingLost()
                #expect(inFlight >= 1000)
                #expect(second.end == .exit(0))
            }
        }

        @Test("F05: SIGTERM while Apple is silent ends at the drain timeout, and the rest goes back")
        func terminatedInSilence() async throws {
            try await Fleet.run(latency: .milliseconds(100), drainTimeout: .seconds(2)) { fleet in
                let first = try await fleet.stalled(1000)
                first.signal(SIGTERM)
                let (end, drain) = try await first.waitForEnd()
                #expect(end == .exit(0))
                let inFlight = try await fleet.cutOff(connections: 0)
                #expect(first.lines("The drain timeout is over").count == 1)
                #expect(drain >= .seconds(2))
                try await fleet.simulator.removeRules()
                _ = try fleet.startWorker()
                let verdict = try await fleet.finish()
                verdict.show("F05 SIGTERM, no answers", "\(inFlight) in flight, exit 0 after \(drain.seconds)")
                verdict.expectNothingLost(duplicates: inFlight)
                #expect(inFlight >= 1000)
            }
        }

        @Test("F06: a second SIGTERM ends the worker at once")
        func terminatedTwice() async throws {
            try await Fleet.run(latency: .milliseconds(100), drainTimeout: .seconds(120)) { fleet in
                let first = try await fleet.stalled(1000)
                first.signal(SIGTERM)
                try await first.logs("Draining: nothing new is taken")
                first.signal(SIGTERM)
                let (end, time) = try await first.waitForEnd()
                #expect(end == .exit(1))
                let inFlight = try await fleet.cutOff(connections: 0)
                try await fleet.simulator.removeRules()
                _ = try fleet.startWorker()
                let verdict = try await fleet.finish()
                verdict.show("F06 second SIGTERM", "\(inFlight) in flight, exit 1 after \(time.seconds)")
                verdict.expectNothingLost(duplicates: inFlight)
                #expect(inFlight >= 1000)
            }
        }

        @Test("One worker, then three, then one, never hold more than the budget")
        func scaled() async throws {
            try await Fleet.run(latency: .seconds(1)) { fleet in
                _ = try fleet.startWorker()
                try await fleet.publish(3000)
                try await eventually("one holds all") {
                    try await fleet.topUp()
                    return try await fleet.connections() == Fleet.budget
                }
                let others = [try fleet.startWorker(), try fleet.startWorker()]
                let up = try await eventually("three share") {
                    try await fleet.topUp()
                    return try fleet.grants().filter { $0 > 0 }.count == 3
                }
                for worker in others { worker.signal(SIGTERM) }
                for worker in others { #expect(try await worker.waitForEnd().end == .exit(0)) }
                let down = try await eventually("one holds all again") {
                    try await fleet.topUp()
                    return try await fleet.connections() == Fleet.budget && fleet.grants().filter { $0 > 0 }.count == 1
                }
                let verdict = try await fleet.finish()
                verdict.show("1, 3, 1 workers", "three shared after \(up.seconds), one had all after \(down.seconds)")
                verdict.expectNothingLost()
            }
        }
    }
}

extension Fleet {
    /// A worker with so many requests in flight that will never be answered, though each was accepted.
    func stalled(_ count: Int) async throws -> WorkerProcess {
        let worker = try self.startWorker()
        // Streams are many only after a first good answer.
        try await self.publish(10)
        try await self.waitForAccepted(10)
        try await self.simulator.addRule(.init(id: "stall", action: .stall, processes: true))
        try await self.publish(4000)
        try await self.waitForInFlight(count)
        return worker
    }
}
