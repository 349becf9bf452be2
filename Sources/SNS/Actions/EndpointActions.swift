internal import Push

package struct CreatePlatformEndpoint: ActionCall {
    package let application: ApplicationARN

    private let token: String
    private let customUserData: String?
    private let given: [String: String]

    static let members = ["PlatformApplicationArn", "Token", "CustomUserData", "Attributes"]

    init(_ parameters: Parameters, region: String?) throws(SNSError) {
        self.token = try parameters.required("Token")
        self.customUserData = try parameters.text("CustomUserData")
        self.given = try parameters.map("Attributes") ?? [:]
        self.application = try parameters.application()
    }

    /// What is to be registered, once the application has been found. Attributes go before parameters.
    package func registration() throws(SNSError) -> EndpointRegistration {
        let attributes = try EndpointAttributes(self.given, customUserData: self.customUserData, token: self.token)
        return EndpointRegistration(
            token: attributes.token ?? "",
            isEnabled: attributes.isEnabled,
            customUserData: attributes.customUserData
        )
    }
}

/// A device as it is to be registered.
package struct EndpointRegistration: Equatable, Sendable {
    /// In lower case.
    package let token: String

    /// Nil if the caller did not say: true for a new one, and any will do for one that is there.
    package let isEnabled: Bool?

    /// Nil is different from every value.
    package let customUserData: String?
}

package struct GetEndpointAttributes: ActionCall {
    package let endpoint: EndpointARN

    static let members = ["EndpointArn"]

    init(_ parameters: Parameters, region: String?) throws(SNSError) {
        self.endpoint = try parameters.endpoint()
    }
}

package struct SetEndpointAttributes: ActionCall {
    package let endpoint: EndpointARN

    private let given: [String: String]

    static let members = ["EndpointArn", "Attributes"]

    init(_ parameters: Parameters, region: String?) throws(SNSError) {
        self.given = try parameters.attributes()
        self.endpoint = try parameters.endpoint()
    }

    /// What is to change, once the endpoint has been found.
    package func changes() throws(SNSError) -> EndpointAttributes {
        try EndpointAttributes(self.given, customUserData: nil, token: nil)
    }
}

package struct ListEndpointsByPlatformApplication: ActionCall {
    package let application: ApplicationARN
    package let nextToken: String?

    static let members = ["PlatformApplicationArn", "NextToken"]

    init(_ parameters: Parameters, region: String?) throws(SNSError) {
        self.application = try parameters.application()
        self.nextToken = try parameters.text("NextToken")
    }
}

package struct DeleteEndpoint: ActionCall {
    package let endpoint: EndpointARN

    static let members = ["EndpointArn"]

    init(_ parameters: Parameters, region: String?) throws(SNSError) {
        self.endpoint = try parameters.endpoint()
    }
}

/// Attributes of an endpoint, checked; nil for one that was not given.
package struct EndpointAttributes: Equatable, Sendable {
    /// Bytes of `CustomUserData` in UTF-8.
    package static let customUserDataLimit = 2048

    /// Hexadecimal digits in a token of Apple's.
    package static let tokenLimit = 400

    /// In lower case.
    package let token: String?
    package let isEnabled: Bool?

    /// Empty takes it away.
    package let customUserData: String?

    /// - Parameters:
    ///   - customUserData: from the parameter; the attribute goes before it.
    ///   - token: the same.
    init(_ given: [String: String], customUserData: String?, token: String?) throws(SNSError) {
        for name in given.keys.sorted() where !["Token", "Enabled", "CustomUserData"].contains(name) {
            throw .invalidAttributeName(name)
        }
        self.isEnabled = try given["Enabled"].map { (text) throws(SNSError) in try AttributeValue.bool(text, "Enabled")
        }
        self.customUserData = given["CustomUserData"] ?? customUserData
        guard (self.customUserData?.utf8.count ?? 0) <= Self.customUserDataLimit else {
            throw .invalidParameter(
                "Attributes",
                reason: "Invalid value for attribute: CustomUserData: must be at most 2048 bytes long in UTF-8 encoding"
            )
        }
        self.token = try (given["Token"] ?? token).map { (text) throws(SNSError) in try Self.normalized(text) }
    }

    /// Apple's tokens have no fixed length.
    private static func normalized(_ token: String) throws(SNSError) -> String {
        guard !token.isEmpty else { throw .invalidParameter("Token", reason: "cannot be empty") }
        guard token.utf8.count <= Self.tokenLimit, token.utf8.count.isMultiple(of: 2),
            token.utf8.allSatisfy({ Hex.value($0) != nil })
        else {
            throw .invalidParameter(
                "Token",
                reason: "iOS device tokens must be no more than 400 hexadecimal characters"
            )
        }
        return token.lowercased()
    }
}
