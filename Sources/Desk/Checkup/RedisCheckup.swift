internal import Loop
internal import Push
internal import Store
internal import Wire

/// Whether Redis is there and fit for a fleet. Changes nothing.
package enum RedisCheckup {
    /// - Parameters:
    ///   - url: `redis://…` or `rediss://…`.
    ///   - caFile: PEM file of the authorities to trust; nil for the system's.
    ///   - timeout: for connecting, and for each answer.
    package static func findings(url: String, caFile: String?, timeout: Duration) async -> [Finding] {
        let address: RedisAddress
        do throws(RedisAddressError) {
            address = try RedisAddress(url)
        } catch {
            return [Finding("redis", .fail, "\(error)", fix: "mend redis.url")]
        }
        var settings = RedisClient.Settings()
        settings.commandTimeout = timeout
        settings.transport.connectTimeout = timeout
        settings.clientName = "pushfleet-doctor"
        let session: RedisSession
        do throws(RedisSession.CannotOpen) {
            session = try await RedisSession.open(address, trusting: caFile, settings: settings)
        } catch {
            let fix =
                error.authenticationFailed
                ? "mend user and password in redis.url" : "check that Redis runs there and redis.url and redis.ca_file"
            return [Finding("redis", .fail, "\(error)", fix: fix)]
        }
        defer { session.close() }
        var findings: [Finding] = []
        findings.append(Self.version(await session.server()?.version ?? "unknown", at: "\(address)"))
        let memory = await Self.result { () throws(RedisFailure) in try await session.send(RedisMemory.question) }
        findings.append(Self.eviction(memory))
        findings.append(
            Self.scripts(
                await Self.result { () throws(RedisFailure) in
                    try await session.run(ScriptCall(Script("return 1"), keys: []))
                }
            )
        )
        findings.append(
            Self.counters(
                await Self.result { () throws(RedisFailure) in try await CounterReader(session).broken() }
            )
        )
        let before = WallClock.now()
        let time = await Self.result { () throws(RedisFailure) in try await session.send(RedisCommand("TIME")) }
        findings.append(Self.skew(time, before: before, after: WallClock.now()))
        return findings
    }

    private static func result<Value>(
        _ body: () async throws(RedisFailure) -> Value
    ) async -> Result<Value, RedisFailure> {
        do throws(RedisFailure) {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }

    static func version(_ version: String, at address: String) -> Finding {
        let major = version.prefix { $0 != "." }
        if let major = Int(major), major < 6 {
            return Finding(
                "redis",
                .warn,
                "\(address) runs version \(version)",
                fix: "6 is the oldest version that is tried"
            )
        }
        return Finding("redis", .ok, "\(address) runs version \(version)")
    }

    static func eviction(_ result: Result<RedisReply, RedisFailure>) -> Finding {
        let subject = "redis memory"
        guard case .success(let reply) = result, let memory = RedisMemory(reply) else {
            return Finding(
                subject,
                .warn,
                "INFO memory does not tell maxmemory-policy",
                fix: "allow the user +info, and make sure that maxmemory-policy is noeviction"
            )
        }
        guard memory.evicts else { return Finding(subject, .ok, "nothing is evicted") }
        let fix = "set maxmemory-policy to noeviction: an evicted budget stops the fleet for one lease time"
        guard memory.limit == 0 else {
            return Finding(subject, .fail, "maxmemory-policy is \(memory.policy)", fix: fix)
        }
        return Finding(
            subject,
            .warn,
            "maxmemory-policy is \(memory.policy), without effect until maxmemory is set",
            fix: fix
        )
    }

    static func scripts(_ result: Result<RedisReply, RedisFailure>) -> Finding {
        let subject = "redis scripts"
        switch result {
        case .success(.integer(1)): return Finding(subject, .ok, "scripts may run")
        case .success(let reply): return Finding(subject, .fail, "a script that returns 1 returned \(reply)")
        case .failure(let failure):
            return Finding(
                subject,
                .fail,
                "\(failure)",
                fix: "give the user the rights in deploy/redis/users.acl.example"
            )
        }
    }

    static func counters(_ result: Result<[String], RedisFailure>) -> Finding {
        let subject = "redis counters"
        switch result {
        case .success([]): return Finding(subject, .ok, "every counter can be counted up")
        case .success(let broken):
            let more = broken.count > 3 ? " and \(broken.count - 3) more" : ""
            return Finding(
                subject,
                .warn,
                "no number, so nothing is counted there: \(broken.prefix(3).joined(separator: ", "))\(more)",
                fix: "remove them with HDEL, or DEL where only a key is named"
            )
        case .failure(let failure):
            return Finding(
                subject,
                .warn,
                "\(failure)",
                fix: "give the user the rights in deploy/redis/users.acl.example"
            )
        }
    }

    /// Redis' clock is what budgets go by; ours is what ages and provider tokens go by.
    static func skew(_ result: Result<RedisReply, RedisFailure>, before: UnixTime, after: UnixTime) -> Finding {
        let subject = "redis clock"
        guard case .success(let reply) = result, let parts = reply.elements, parts.count == 2,
            let seconds = parts[0].integer, let micros = parts[1].integer
        else { return Finding(subject, .warn, "TIME was not answered", fix: "allow the user +time") }
        let there = UnixTime(milliseconds: seconds * 1000 + micros / 1000)
        // The answer was made some time between the two.
        let skew = there < before ? before - there : there > after ? there - after : .zero
        let text = "differs from this machine's by \(skew.milliseconds) ms"
        return skew > .seconds(5)
            ? Finding(subject, .warn, text, fix: "run an NTP client on both") : Finding(subject, .ok, text)
    }
}
