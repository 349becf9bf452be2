package struct CreatePlatformApplication: ActionCall {
    package let applicationName: String
    package let platform: Platform
    package let attributes: ApplicationAttributes

    static let members = ["Name", "Platform", "Attributes"]

    init(_ parameters: Parameters, region: String?) throws(SNSError) {
        let name = try parameters.required("Name")
        let platform = try parameters.required("Platform")
        guard !name.isEmpty else { throw .invalidParameter(name, reason: "cannot be empty") }
        guard name.utf8.count <= 256 else {
            throw .invalidParameter(name, reason: "must be at most 256 characters long")
        }
        guard ApplicationARN.isName(name) else {
            throw .invalidParameter(
                name,
                reason: "must contain only characters 'a'-'z', 'A'-'Z', '0'-'9', '_', '-', and '.'"
            )
        }
        guard let platform = Platform(rawValue: platform) else {
            throw .invalidParameter("Platform", reason: "\(platform) is not supported")
        }
        self.applicationName = name
        self.platform = platform
        self.attributes = try ApplicationAttributes(try parameters.attributes(), isNew: true)
    }
}

package struct GetPlatformApplicationAttributes: ActionCall {
    package let application: ApplicationARN

    static let members = ["PlatformApplicationArn"]

    init(_ parameters: Parameters, region: String?) throws(SNSError) {
        self.application = try parameters.application()
    }
}

package struct SetPlatformApplicationAttributes: ActionCall {
    package let application: ApplicationARN

    private let given: [String: String]

    static let members = ["PlatformApplicationArn", "Attributes"]

    init(_ parameters: Parameters, region: String?) throws(SNSError) {
        self.given = try parameters.attributes()
        self.application = try parameters.application()
    }

    /// What is to be merged, once the application has been found.
    package func attributes() throws(SNSError) -> ApplicationAttributes {
        try ApplicationAttributes(self.given, isNew: false)
    }
}

package struct ListPlatformApplications: ActionCall {
    package let nextToken: String?

    static let members = ["NextToken"]

    init(_ parameters: Parameters, region: String?) throws(SNSError) {
        self.nextToken = try parameters.text("NextToken")
    }
}

package struct DeletePlatformApplication: ActionCall {
    package let application: ApplicationARN

    static let members = ["PlatformApplicationArn"]

    init(_ parameters: Parameters, region: String?) throws(SNSError) {
        self.application = try parameters.application()
    }
}
