internal import Push

/// What to do about what was found, or about finding nothing.
extension FindReport {
    /// What one of the reasons means, and what to do about it.
    package struct Advice: Encodable, Equatable {
        package let reason: String
        package let meaning: String
        package let nextStep: String
    }

    /// For each last word that was not the best, once.
    package var advice: [Advice] {
        var told: Set<String> = []
        return self.messages.flatMap { Self.advice($0) }.filter { told.insert($0.reason).inserted }
    }

    /// Why there is nothing.
    package func nothing(isOn: Bool, app: String?) -> String {
        let what = self.foundBy == .messageID ? "message \(self.searched)" : "message or token \(self.searched)"
        let ofApp = app.map { " of app \(Shown.text($0.utf8))" } ?? ""
        guard let since = self.trail.sinceMs else {
            let why = isOn ? "no worker has written any yet" : "trail.max_memory is 0"
            return "nothing is known of \(what)\(ofApp): there is no trail; \(why)"
        }
        var text = "nothing is known of \(what)\(ofApp); the trail begins \(Moment.full(since))"
        if let delivered = self.trail.deliveredSinceMs, delivered > since {
            text += ", for what went well at once \(Moment.full(delivered)) (memory: trail.max_memory)"
        }
        if let others = self.trail.othersSinceMs, others > since {
            text += ", for everything else \(Moment.full(others))"
        }
        if self.trail.lost > 0, let time = self.trail.lostAtMs {
            text += "; \(self.trail.lost) messages could not be written, the last before \(Moment.full(time))"
        }
        return text + "; what is still in RabbitMQ was not received yet"
    }

    private static func advice(_ message: Message) -> [Advice] {
        var advice: [Advice] = message.deliveries.compactMap { delivery in
            delivery.refusedAs.flatMap { DeadLetterReason(rawValue: $0) }.map {
                Advice(reason: $0.rawValue, meaning: $0.meaning, nextStep: $0.nextStep)
            }
        }
        for token in message.tokens {
            guard let step = token.steps.last, token.state != "delivered" else { continue }
            if let reason = step.reason.flatMap({ DeadLetterReason(rawValue: $0) }), reason != .apnsRejected {
                advice.append(
                    Advice(reason: reason.rawValue, meaning: reason.meaning, nextStep: reason.nextStep)
                )
            }
            let api: StatusReason.API = message.broadcast ? .broadcast : .device
            let last = step.answers.last ?? token.steps.last { !$0.answers.isEmpty }?.answers.last
            guard let status = last?.status, status != 200 else { continue }
            let reason = last?.apnsReason.flatMap { ApnsReason($0.utf8) }
            let row = ReasonTable.row(status: status, reason: reason, api: api)
            let title = "\(status)\(reason.map { " \($0.text)" } ?? "")"
            advice.append(Advice(reason: title, meaning: row.meaning, nextStep: row.nextStep))
        }
        return advice
    }
}
