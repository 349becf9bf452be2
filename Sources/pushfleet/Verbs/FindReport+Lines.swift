internal import Desk

/// The story in words.
extension FindReport {
    /// - Parameter all: whether to show every token, however many there are.
    func lines(all: Bool) -> [String] {
        var lines = Array(self.messages.map { Self.lines($0, all: all) }.joined(separator: [""]))
        if self.hasMore { lines += ["", "There are older messages to it; see --limit."] }
        for advice in self.advice {
            lines += ["", advice.reason] + Terminal.wrapped(advice.meaning, indent: 2)
            lines += Terminal.wrapped("What to do: \(advice.nextStep)", indent: 2)
        }
        if self.unreadable > 0 {
            lines += [
                "", "\(self.unreadable) parts of the trail cannot be read; is this pushfleet as new as the workers?",
            ]
        }
        return lines
    }

    // MARK: A message

    private static let fewTokens = 12

    private static func lines(_ message: Message, all: Bool) -> [String] {
        let place = message.app.map { " (\($0), \(message.lane ?? ""))" } ?? ""
        let id = message.isCut ? "\(message.messageId)..." : message.messageId
        var lines = ["\(message.broadcast ? "broadcast" : "message") \(id)\(place)"]
        lines.append("  \(Moment.full(message.publishedMs))  published")
        for delivery in message.deliveries { lines += Self.lines(delivery) }
        var tokens = message.tokens
        if tokens.count > 1 || message.tokenCount > 1 {
            let states = message.states.sorted { $0.key < $1.key }.map { "\($0.value) \(Self.word($0.key))" }
            lines.append("  \(message.tokenCount) tokens: \(states.joined(separator: ", "))")
        }
        if tokens.count > Self.fewTokens, !all {
            // Who asks about many wants to know which failed.
            tokens.sort { ($0.state == "delivered" ? 1 : 0, $0.token) < ($1.state == "delivered" ? 1 : 0, $1.token) }
        }
        let shown = all ? tokens[...] : tokens.prefix(Self.fewTokens)
        for token in shown { lines += Self.lines(token, of: message) }
        if tokens.count > shown.count {
            lines.append("  and \(tokens.count - shown.count) more; --all-tokens shows them, --token finds one")
        }
        return lines
    }

    private static func lines(_ delivery: Delivery) -> [String] {
        let copy = delivery.copies > 0 ? ", copy \(delivery.copies)" : ""
        let again = delivery.redelivered ? ", handed out before" : ""
        let worker = delivery.worker ?? "a worker"
        var lines = ["  \(Moment.full(delivery.receivedMs))  received by \(worker)\(copy)\(again)"]
        if let reason = delivery.refusedAs {
            lines.append("  \(Moment.full(delivery.endedMs))  dead-lettered whole: \(reason)")
        }
        switch delivery.end {
        case "returned": lines.append("  \(Moment.full(delivery.endedMs))  given back to RabbitMQ")
        case "lost":
            lines.append("  \(Moment.full(delivery.endedMs))  the connection to RabbitMQ broke; it is handed out again")
        case "open": lines.append("  \(Moment.full(delivery.endedMs))  not over when this was written")
        default: break
        }
        return lines
    }

    private static func lines(_ token: Token, of message: Message) -> [String] {
        var lines = ["  \(message.broadcast ? "channel" : "token") \(token.token): \(Self.word(token.state))"]
        if let id = token.apnsId { lines.append("    apns-id \(id)") }
        for step in token.steps {
            let worker = message.deliveries[step.delivery].worker.map { " of \($0)" } ?? ""
            for answer in step.answers {
                let how = "\(answer.latencyMs) ms, connection \(answer.connection)\(worker)"
                lines.append(
                    "    \(Moment.time(answer.timeMs))  attempt \(answer.attempt): \(Self.text(answer)) (\(how))"
                )
            }
            if let text = Self.text(step) { lines.append("    \(Moment.time(step.timeMs))  \(text)") }
        }
        return lines
    }

    private static func text(_ answer: Answer) -> String {
        if let status = answer.status {
            return status == 200
                ? "accepted by Apple" : "Apple answered \(status)\(answer.apnsReason.map { " \($0)" } ?? "")"
        }
        guard let cause = answer.unanswered else { return "answered, but the trail does not know how any more" }
        return "no answer: \(cause)"
            + (answer.mayBeSent == true ? ", Apple may have had it" : ", certainly not processed")
    }

    private static func text(_ step: Step) -> String? {
        switch step.state {
        case "delivered": return nil
        case "retry":
            let due = step.dueMs.map { " at about \(Moment.time($0))" } ?? ""
            return "to be tried again\(due)\(step.cause.map { ": \($0)" } ?? "")"
        case "held": return "waits for its not_before\(step.dueMs.map { " until \(Moment.full($0))" } ?? "")"
        case "dead_letter": return "dead-lettered\(step.reason.map { ": \($0)" } ?? "")"
        case "gone":
            let since = step.invalidSinceMs.map { "; invalid since \(Moment.full($0)), says Apple" } ?? ""
            return "the token is gone, told on pushfleet.feedback\(since)"
        case "cancelled": return "called off before it was due"
        case "sent": return "sent; no answer so far"
        default: return step.returned ? "given back, not sent" : "waits to be sent"
        }
    }

    private static func word(_ state: String) -> String { state == "dead_letter" ? "dead-lettered" : state }
}
