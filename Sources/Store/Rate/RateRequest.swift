package import Push

/// What a worker asks of an app's token bucket.
package struct RateRequest: Hashable, Sendable {
    /// Tokens that pushes wait for; at least 1.
    package let need: Int
    /// The same and what may soon be needed, given only while there is plenty.
    package let want: Int

    package init(need: Int, want: Int) {
        self.need = need
        self.want = want
    }
}

/// What the bucket answers.
package struct RateAnswer: Hashable, Sendable {
    /// How many tokens; zero if the line is too long to stand in.
    package let tokens: Int
    /// When they are due, from when the script ran; without tokens, when to ask again at the earliest.
    package let due: Duration
    /// Whether others were sent away of late, so that it is polite to let them go first.
    package let isCrowded: Bool

    package init(tokens: Int, due: Duration, isCrowded: Bool) {
        self.tokens = tokens
        self.due = due
        self.isCrowded = isCrowded
    }

    /// Nil if the reply is none of the script's.
    package init?(_ reply: RedisReply) {
        guard let parts = reply.elements?.map(\.integer), parts.count == 3, let tokens = parts[0], let due = parts[1],
            let isCrowded = parts[2], tokens >= 0, due >= 0
        else { return nil }
        self.init(tokens: Int(tokens), due: .microseconds(due), isCrowded: isCrowded == 1)
    }
}

/// The rate of one app, which the whole fleet shares.
package struct Rate: Hashable, Sendable {
    package let app: String
    package let limit: RateLimit

    package init(app: String, limit: RateLimit) {
        self.app = app
        self.limit = limit
    }

    /// Takes tokens. A call that runs twice takes twice, which spends tokens and never gives too many.
    /// - Parameter server: the process the call is sent to.
    package func take(_ request: RateRequest, on server: RedisServer) -> ScriptCall {
        self.take(request, runID: server.runID, script: RateScript.take)
    }

    func take(_ request: RateRequest, runID: String, script: Script) -> ScriptCall {
        var call = ScriptCall(script, keys: [Keys.rate(app: self.app)])
        call.add(runID)
        call.add(request.need)
        call.add(request.want)
        call.add(self.limit.interval)
        for time in [self.limit.capacity, self.limit.horizon, self.limit.spread] { call.add(time.nanoseconds / 1000) }
        call.add(milliseconds: Keys.rateLife)
        return call
    }
}
