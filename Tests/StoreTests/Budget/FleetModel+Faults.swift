import Push
import TestRandom

@testable import Store

extension FleetModel {
    enum Fault: String, CaseIterable {
        case kill, terminate, join, partition, freeze, dropConnections, changeWant
        case redisAway, flush, restartOld, restartEmpty, restartSame, copy
        case clockBack4, clockAhead4, clockAhead30, clockBackHour, clockAheadDay
    }

    /// A life with faults, then a time without in which everything must come right.
    func live(seconds: Int = 110) throws {
        let want = Int.random(in: 1...self.budget.connections, using: &self.random)
        for _ in 0..<Int.random(in: 2...7, using: &self.random) { self.addWorker(want: want) }
        try self.run(until: 25_000)
        self.isFaulty = true
        self.schedule(after: 0, .fault)
        try self.run(until: 25_000 + seconds * 1000)
        self.heal()
        try self.run(until: self.now + 75_000)
        try self.checkRecovery()
    }

    private func heal() {
        self.isFaulty = false
        self.serverAwayUntil = min(self.serverAwayUntil, self.now)
        for index in self.workers.indices {
            self.workers[index].partitionedUntil = min(self.workers[index].partitionedUntil, self.now)
            if self.workers[index].frozenUntil > self.now {
                self.workers[index].frozenUntil = self.now
                self.schedule(after: 0, .thaw(worker: index))
            }
        }
        self.note("faults end")
        if self.workers.allSatisfy({ !$0.isAlive || $0.isLeaving }) { self.addWorker(want: self.budget.connections) }
    }

    /// Every lease has come back and is in use: as much is open as is wanted and allowed.
    func checkRecovery() throws {
        let wanted = self.workers.reduce(0) { $0 + ($1.isAlive ? $1.want : 0) }
        let expected = min(wanted, self.budget.connections)
        // A slot on its way from one worker to another is closed for a moment.
        let slack = self.workers.count(where: { $0.isAlive && $0.want > 0 }) > self.budget.connections ? 1 : 0
        guard self.totalOpen >= expected - slack else {
            throw self.fail("only \(self.totalOpen) of \(expected) connections are in use long after the last fault")
        }
    }

    func injectFault() throws {
        guard let fault = self.weather.faults.randomElement(using: &self.random) else { return }
        let alive = self.workers.indices.filter { self.workers[$0].isAlive && !self.workers[$0].isLeaving }
        let some = alive.filter { _ in self.random.chance(0.5) }
        self.note("fault: \(fault.rawValue)")
        self.faultKinds.insert(fault.rawValue)
        switch fault {
        case .kill: for index in some where self.random.chance(0.7) { self.kill(index) }
        case .terminate: if let index = alive.randomElement(using: &self.random) { self.terminate(index) }
        case .join:
            guard alive.count < 9 else { return }
            for _ in 0..<Int.random(in: 1...5, using: &self.random) {
                self.addWorker(want: Int.random(in: 1...self.budget.connections, using: &self.random))
            }
        case .partition:
            for index in some {
                self.workers[index].partitionedUntil = self.now + Int.random(in: 9_000...40_000, using: &self.random)
            }
        case .freeze:
            guard let index = alive.randomElement(using: &self.random) else { return }
            let until = self.now + Int.random(in: 2_000...40_000, using: &self.random)
            self.workers[index].frozenUntil = until
            self.schedule(after: until - self.now, .thaw(worker: index))
        case .dropConnections:
            for index in some where self.workers[index].closing == 0 && self.workers[index].open > 0 {
                self.workers[index].open -= Int.random(in: 1...self.workers[index].open, using: &self.random)
                self.workers[index].nextDial = self.now + Int.random(in: 0...8_000, using: &self.random)
            }
        case .changeWant:
            for index in some {
                self.workers[index].want = Int.random(in: 0...self.budget.connections, using: &self.random)
            }
        case .redisAway: self.serverAwayUntil = self.now + Int.random(in: 1_000...60_000, using: &self.random)
        case .copy: try self.copies.append(self.redis.send(RedisCommand("DUMP", self.key)))
        case .flush: _ = try self.redis.send(RedisCommand("DEL", self.key))
        case .restartEmpty:
            _ = try self.redis.send(RedisCommand("DEL", self.key))
            self.runID += 1
        case .restartOld:
            self.runID += 1
            guard case .string(let bytes)? = self.copies.randomElement(using: &self.random) else { return }
            var command = RedisCommand("RESTORE", self.key, "0")
            command.add(bytes)
            command.add("REPLACE" as StaticString)
            if case .error(let error) = try self.redis.send(command) { throw self.fail(error.text) }
        case .restartSame: self.runID += 1
        case .clockBack4: self.serverOffset -= 4_000
        case .clockAhead4: self.serverOffset += 4_000
        case .clockAhead30: self.serverOffset += 30_000
        case .clockBackHour: self.serverOffset -= 3_600_000
        case .clockAheadDay: self.serverOffset += 86_400_000
        }
    }
}
