package import Push

/// What happened to one message, as far as the trail knows.
package struct MessageStory: Hashable, Sendable {
    package let id: TrailID
    /// Nil if the trail does not know it any more.
    package let app: String?
    package let lane: String?
    /// By the publisher's clock; when it was received first, if the publisher said nothing.
    package let published: UnixTime
    package let isBroadcast: Bool
    /// Tokens of the message as it was published, as far as is known.
    package let tokenCount: Int
    /// Each time that a worker had it or a copy of it, in the order of time.
    package let deliveries: [Delivery]
    /// By name; all that the trail has.
    package let tokens: [Token]

    /// One worker's time with the message.
    package struct Delivery: Hashable, Sendable {
        /// Host, process and loop; nil if unknown by now.
        package let worker: String?
        package let received: UnixTime
        package let ended: UnixTime
        package let end: TrailEnd
        /// Whether the broker had handed it out before.
        package let isRedelivered: Bool
        package let deliveries: Int
        /// Attempts that counted before.
        package let attempts: Int
        package let copies: Int
        /// Why it was no job.
        package let refusal: DeadLetterReason?
    }

    /// One token's part.
    package struct Token: Hashable, Sendable {
        package let identity: TrailToken
        package let steps: [Step]
        package var state: State { self.steps.last.map(\.state) ?? .waiting }

        /// One word for what became of it; closed.
        package enum State: String, Sendable, CaseIterable {
            /// With a worker or in a queue, and not sent yet.
            case waiting
            /// Sent, without an answer when this was written.
            case sent
            case delivered
            /// To be tried again.
            case retry
            /// Its time lies ahead.
            case held
            case deadLetter = "dead_letter"
            case gone
            /// Called off before it was due.
            case cancelled
        }
    }

    /// What became of a token in one delivery.
    package struct Step: Hashable, Sendable {
        /// Which delivery, by its place in the story.
        package let delivery: Int
        package let state: Token.State
        /// When it was settled, or written down.
        package let time: UnixTime
        /// Apple's answers and what took their place, in the order of time.
        package let answers: [Answer]
        /// Why it waits, if no answer says so: an APNs reason or `notConnected`.
        package let cause: String?
        /// When it is tried again, give or take a fifth of the wait.
        package let due: UnixTime?
        package let reason: DeadLetterReason?
        /// When Apple last found the token invalid.
        package let invalidSince: UnixTime?
        /// Whether it was handed back untried, or to be sent again.
        package let isReturned: Bool
        package let end: TrailEnd
    }

    package struct Answer: Hashable, Sendable {
        package let time: UnixTime
        package let latency: Duration
        /// A number of the worker's own.
        package let connection: Int
        /// Which attempt of the message, from 1.
        package let attempt: Int
        package let result: Result

        package enum Result: Hashable, Sendable {
            /// Apple's status, and its reason if it gave one.
            case status(Int, String?)
            /// No answer, by cause; `maySent` if Apple may have had the push.
            case none(String, mayBeSent: Bool)
            /// The trail does not know any more.
            case unknown
        }
    }

    /// Tokens by page: those after `name`, at most so many. Names are in order.
    package func tokens(after name: String?, limit: Int) -> ArraySlice<Token> {
        var low = self.tokens.startIndex
        if let name {
            var high = self.tokens.endIndex
            while low < high {
                let middle = (low + high) / 2
                if self.tokens[middle].identity.name <= name { low = middle + 1 } else { high = middle }
            }
        }
        return self.tokens[low...].prefix(limit)
    }

    /// How many tokens are in which state.
    package var counts: [Token.State: Int] { self.tokens.reduce(into: [:]) { $0[$1.state, default: 0] += 1 } }
}
