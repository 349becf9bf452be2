internal import Push
internal import Registry
internal import SNS

/// The registry's names, which know no region and account, and the ARNs that clients see.
extension GatewaySettings {
    func arn(_ name: ApplicationName) -> ApplicationARN? {
        guard let platform = Platform(rawValue: name.platform) else { return nil }
        return ApplicationARN(region: self.region, account: self.account, platform: platform, name: name.name)
    }

    func arn(_ name: EndpointName) -> EndpointARN? {
        self.arn(name.application).map { EndpointARN(application: $0, id: name.id.description) }
    }

    func arn(topic: String) -> TopicARN {
        TopicARN(region: self.region, account: self.account, name: topic)
    }

    func arn(_ name: SubscriptionName) -> SubscriptionARN? {
        SNS.UUID(name.id.description).map { SubscriptionARN(topic: self.arn(topic: name.topic), id: $0) }
    }
}

extension ApplicationARN {
    var key: ApplicationName { ApplicationName(platform: self.platform.rawValue, name: self.name) }
}

extension EndpointARN {
    /// Nil for an id that no endpoint can have.
    var key: EndpointName? {
        ResourceID(self.id).map { EndpointName(application: self.application.key, id: $0) }
    }
}

extension SubscriptionARN {
    var key: SubscriptionName? {
        ResourceID(self.id.description).map { SubscriptionName(topic: self.topic.name, id: $0) }
    }
}

/// `NextToken`: where the next page begins, for nobody to read but us.
enum PageToken {
    static func encode(_ key: String) -> String { Self.encode(Array(key.utf8)) }

    static func encode(_ key: [UInt8]) -> String { Hex.encode(key) }

    /// Nil for no token.
    static func decode(_ token: String?) throws(SNSError) -> String? {
        guard let token, !token.isEmpty else { return nil }
        guard token.utf8.count <= 2048, let bytes = Hex.decode(Array(token.utf8)),
            let key = String(validating: bytes, as: UTF8.self)
        else { throw .invalidNextToken() }
        return key
    }
}
