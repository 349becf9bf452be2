/// Checks payloads against Apple's keys, types and values, so that a misspelt key is found by its sender and not by
/// users who wait for a notification.
///
/// The sender's own keys beside `aps` are free. Apple, "Generating a remote notification"; for Live Activities,
/// "Starting and updating Live Activities with ActivityKit push notifications"; for widgets and controls, "Updating
/// widgets with WidgetKit push notifications".
package enum PayloadLint {
    /// Whether an app's payloads are checked.
    package enum Mode: String, CaseIterable, Sendable {
        /// A payload is opaque.
        case off
        /// A payload with a finding is dead-lettered.
        case strict
    }

    /// One thing that Apple would not understand, or would drop in silence.
    package struct Finding: Equatable, Sendable {
        /// Where: `payload.aps.alert.titel`.
        package let path: String

        /// One English sentence with the fix. No control characters.
        package let detail: String
    }

    /// All that is wrong with a payload, in the order of its text; what is missing stands at the end.
    ///
    /// - Parameters:
    ///   - payload: any bytes; what is not a JSON object is a finding too.
    ///   - isBroadcast: whether it goes to a channel, which allows more bytes and no `start`.
    package static func findings(
        in payload: UnsafeRawBufferPointer,
        type: PushType,
        isBroadcast: Bool = false
    ) -> [Finding] {
        Self.check(payload, type, isBroadcast: isBroadcast, limit: .max)
    }

    /// The first thing that is wrong with what a message is about to send: its payload, or a priority that Apple does
    /// not name for its push type. Allocates nothing for a message that is fine.
    package static func first(in job: Job, isBroadcast: Bool = false) -> Finding? {
        if let finding = job.withPayload({ Self.check($0, job.pushType, isBroadcast: isBroadcast, limit: 1).first }) {
            return finding
        }
        let named = job.pushType.rules.priorities
        guard !named.contains(job.priority) else { return nil }
        return Finding(
            path: "priority",
            detail: "\"priority\" is \(job.priority.rawValue), but for \(job.pushType.rawValue) Apple names "
                + "\(named.phrase) only; leave it out for \(job.pushType.defaultPriority.rawValue)."
        )
    }

    private static func check(
        _ payload: UnsafeRawBufferPointer,
        _ type: PushType,
        isBroadcast: Bool,
        limit: Int
    ) -> [Finding] {
        var checker = PayloadChecker(payload, type: type, isBroadcast: isBroadcast, limit: limit)
        checker.run()
        return checker.findings
    }
}

extension Refusal {
    /// A message whose payload has this finding, for an app that checks payloads.
    package init(_ finding: PayloadLint.Finding) {
        self.init(.payloadLint, field: finding.path, finding.detail)
    }
}
