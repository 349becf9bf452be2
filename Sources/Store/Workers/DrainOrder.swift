package import Push

/// An operator's order to one worker: drain and leave, as at SIGTERM.
///
/// A string that lives for a while. An id names one run of one worker, so that an order never meets another one; the
/// worker asks for it at its heartbeat.
package struct DrainOrder: Hashable, Sendable {
    /// Who wants it, as others read it; may hold anything.
    package let by: String
    /// When it was given, by the clock of the one who gave it.
    package let time: UnixTime

    package init(by: String, time: UnixTime) {
        self.by = by
        self.time = time
    }

    /// A worker that does not ask for so long is gone.
    package static let life = Duration.seconds(600)

    /// Gives the order; again, it stands as long again.
    package func command(for worker: String) -> RedisCommand {
        var command = RedisCommand("SET", Keys.drainOrder(worker: worker))
        command.add("\(self.time.milliseconds) \(self.by)")
        command.add("PX")
        command.add(Self.life.milliseconds)
        return command
    }

    /// Asks for the order to a worker; see ``init(_:)``.
    package static func question(for worker: String) -> RedisCommand {
        RedisCommand("GET", Keys.drainOrder(worker: worker))
    }

    /// The answer to ``question(for:)``; nil if there is no order.
    package init?(_ reply: RedisReply) {
        guard let text = reply.text, let space = text.firstIndex(of: " "), let time = Int64(text[..<space]) else {
            return nil
        }
        self.init(by: String(text[text.index(after: space)...]), time: UnixTime(milliseconds: time))
    }
}
