import Push
import Testing

@testable import Simulator

/// A request that is good but for one change, and what is said of it.
struct RequestRow: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let reason: Reason?
    let change: @Sendable (inout PushDraft) -> Void

    init(_ description: String, _ reason: Reason?, _ change: @escaping @Sendable (inout PushDraft) -> Void) {
        self.testDescription = description
        self.reason = reason
        self.change = change
    }
}

extension RequestCheck {
    /// A check that knows no key yet.
    static func keyless(
        bundleIDs: Set<String>? = nil,
        malformedBody: MalformedBody = .accept,
        tokens: TokenRegistry = TokenRegistry(unknown: .accept)
    ) -> RequestCheck {
        RequestCheck(
            topics: TopicRules(bundleIDs: bundleIDs),
            malformedBody: malformedBody,
            providerTokens: ProviderTokenCheck(settings: ProviderTokenCheck.Settings()),
            tokens: tokens
        )
    }

    /// What is said of a request, as the first of its connection.
    mutating func verdict(on draft: PushDraft, _ binding: CredentialBinding = CredentialBinding()) -> Verdict {
        var binding = binding
        var buckets = TokenBuckets(rate: nil)
        let now = PushService.Moment(wall: TestKey.now, monotonic: MonotonicTime(nanoseconds: 0))
        return self.judge(draft.request, binding: &binding, buckets: &buckets, at: now).verdict
    }
}
