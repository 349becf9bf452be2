package import Push
package import Wire

/// What Apple's certificate for a provider says: whose it is, where it may send, and to which topics.
///
/// The extensions are described in Apple's "Establishing a certificate-based connection to APNs" by their effect; their
/// encoding was read from real certificates.
package struct ClientCertificate: Hashable, Sendable {
    /// One entry of the list of topics.
    package struct Topic: Hashable, Sendable {
        package var name: String
        /// `app`, `voip`, `complication`, or a word that Apple adds one day.
        package var kind: String

        package init(name: String, kind: String) {
            self.name = name
            self.kind = kind
        }
    }

    /// The subject's UID: the bundle id, or another topic; what a request without a topic is for.
    package let subject: String
    /// The subject's OU.
    package let teamID: String?
    /// The subject's CN, such as `Apple Push Services: com.example.shop`.
    package let commonName: String?
    package let notBefore: UnixTime
    package let notAfter: UnixTime
    package let allowsSandbox: Bool
    package let allowsProduction: Bool
    /// Every topic that it may send to.
    package let topics: [Topic]

    /// Nil if it is not a certificate for APNs: it names no subject, or neither environment.
    package init?(_ certificate: Certificate) {
        guard let subject = certificate.subject.userID, !subject.isEmpty else { return nil }
        let extensions = certificate.extensions
        self.subject = subject
        self.teamID = certificate.subject.organizationalUnit
        self.commonName = certificate.subject.commonName
        self.notBefore = certificate.notBefore
        self.notAfter = certificate.notAfter
        self.allowsSandbox = extensions[Extension.sandbox] != nil
        self.allowsProduction = extensions[Extension.production] != nil
        guard self.allowsSandbox || self.allowsProduction else { return nil }
        // A certificate for one app and one environment has no list: it is for its subject.
        let listed = extensions[Extension.topics].flatMap { Self.topics(in: $0) }
        let voip = extensions[Extension.voipTopics].flatMap { Self.text(in: $0) }
        if let listed, !listed.isEmpty {
            self.topics = listed
        } else if let voip {
            self.topics = [Topic(name: voip, kind: "voip")]
        } else {
            let isVoIP = extensions[Extension.voip] != nil
            self.topics = [Topic(name: subject, kind: isVoIP ? "voip" : "app")]
        }
    }

    /// Whether a request may name this topic.
    package func covers(_ topic: String) -> Bool { self.topics.contains { $0.name == topic } }

    /// What APNs takes for the topic of a request that names none; nil if it must name one.
    package var defaultTopic: String? { self.topics.count == 1 ? self.topics[0].name : nil }

    /// Whether the time lies between its two dates.
    package func isValid(at time: UnixTime) -> Bool { self.notBefore <= time && time <= self.notAfter }

    private enum Extension {
        static let sandbox = "1.2.840.113635.100.6.3.1"
        static let production = "1.2.840.113635.100.6.3.2"
        static let voipTopics = "1.2.840.113635.100.6.3.4"
        static let voip = "1.2.840.113635.100.6.3.5"
        static let topics = "1.2.840.113635.100.6.3.6"
    }

    private static func text(in der: [UInt8]) -> String? {
        var reader = DERReader(der)
        return reader.nextText()
    }

    /// SEQUENCE of topic and SEQUENCE of kinds, in turns. Nil if it is anything else.
    private static func topics(in der: [UInt8]) -> [Topic]? {
        var outer = DERReader(der)
        guard let list = outer.next(.sequence), outer.isAtEnd else { return nil }
        var reader = DERReader(list)
        var topics: [Topic] = []
        while !reader.isAtEnd {
            guard let name = reader.nextText(), let kinds = reader.next(.sequence) else { return nil }
            var inner = DERReader(kinds)
            guard let kind = inner.nextText() else { return nil }
            topics.append(Topic(name: name, kind: kind))
        }
        return topics
    }
}
