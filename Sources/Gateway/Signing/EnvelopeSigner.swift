internal import Push
internal import SNS
internal import Synchronization

/// What the outside is told: signatures, and the addresses under which this gateway is reached.
final class EnvelopeSigner: Sendable {
    private struct State {
        var key: SigningKey?
        var url: String
        /// The signature made last: all of a message's subscribers get the same.
        var last: (text: [UInt8], seal: SubscriberMessage.Seal)?
    }

    private let state: Mutex<State>

    /// - Parameter url: where clients reach this gateway, without a slash at the end.
    init(url: String) {
        self.state = Mutex(State(url: url))
    }

    var isReady: Bool { self.state.withLock { $0.key != nil } }

    func set(_ key: SigningKey) {
        self.state.withLock { state in
            state.key = key
            state.last = nil
        }
    }

    func set(url: String) {
        self.state.withLock { $0.url = url }
    }

    /// The certificate that is served there; nil for none.
    func certificate(at path: String) -> String? {
        self.state.withLock { state in
            guard let key = state.key, key.path == path else { return nil }
            return key.certificate
        }
    }

    /// - Parameter version: the topic's `SignatureVersion`; nil for `1`.
    /// - Returns: nil without a key.
    func seal(_ message: SubscriberMessage, version: String?) -> SubscriberMessage.Seal? {
        let version = version == "2" ? "2" : "1"
        let text = message.signedText
        let (key, url, known) = self.state.withLock { state in
            (state.key, state.url, state.last.flatMap { $0.text == text && $0.seal.version == version ? $0.seal : nil })
        }
        if let known { return known }
        guard let key, let signature = key.signature(text, version: version) else { return nil }
        let seal = SubscriberMessage.Seal(version: version, signature: signature, certificateURL: url + key.path)
        self.state.withLock { $0.last = (text, seal) }
        return seal
    }

    // MARK: Links that need no signature

    func subscribeURL(_ topic: TopicARN, token: String) -> String {
        "\(self.url)/?Action=ConfirmSubscription&TopicArn=\(topic)&Token=\(token)"
    }

    func unsubscribeURL(_ subscription: SubscriptionARN) -> String {
        "\(self.url)/?Action=Unsubscribe&SubscriptionArn=\(subscription)"
    }

    private var url: String { self.state.withLock { $0.url } }
}
