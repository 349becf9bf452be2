internal import APNs
internal import Push
internal import Wire

/// What APNs thinks of the certificate that a provider showed in the handshake.
///
/// Sources: Apple, "Establishing a certificate-based connection to APNs"; that a bad one is told by GOAWAY with last
/// stream 0 after a handshake that succeeds was seen by operators.
enum ClientCertificateCheck {
    enum Verdict: Equatable {
        case accepted(ClientCertificate)
        /// `BadCertificate` or `BadCertificateEnvironment`.
        case refused(Reason)
    }

    /// - Parameter now: must lie between the certificate's dates.
    static func judge(_ certificate: Certificate, for environment: APNsEnvironment, at now: UnixTime) -> Verdict {
        guard let client = ClientCertificate(certificate), client.isValid(at: now) else {
            return .refused(.badCertificate)
        }
        let isAllowed = environment == .production ? client.allowsProduction : client.allowsSandbox
        return isAllowed ? .accepted(client) : .refused(.badCertificateEnvironment)
    }

    /// Why no push may go to the topic with this certificate; nil if one may. A suffix is part of the topic here: the
    /// list names `….voip` and `….complication` by themselves.
    static func refusal(of topic: ArraySlice<UInt8>, _ certificate: ClientCertificate) -> Reason? {
        guard !topic.isEmpty else { return .missingTopic }
        guard TopicRules.isWellFormed(topic) else { return .badTopic }
        return certificate.covers(String(decoding: topic, as: UTF8.self)) ? nil : .topicDisallowed
    }
}

extension PushRequest {
    /// With the certificate's topic if the request names none, and the certificate has just one.
    func completed(by certificate: ClientCertificate?) -> PushRequest {
        guard let topic = certificate?.defaultTopic, self.head.topic == nil else { return self }
        var head = self.head
        let name: StaticString = "apns-topic"
        Array(topic.utf8).withUnsafeBytes { value in
            head.add(name: UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount), value: value)
        }
        return PushRequest(head: head, body: self.body, bodySize: self.bodySize)
    }
}

extension PushService {
    /// What comes of the certificate that a new connection has shown.
    enum CertificateOutcome: Equatable {
        /// The stream limit to announce, when it has changed: without provider tokens there is nothing to wait for.
        case accepted(streamLimit: UInt32?)
        /// The connection is told by GOAWAY that nothing on it will be processed.
        case refused(debugData: String)
    }
}
