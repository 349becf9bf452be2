/// The parts of an Amazon Resource Name of SNS: `arn:aws:sns:<region>:<account>:<resource>`.
///
/// Source: AWS General Reference, "Amazon Resource Names"; the texts as recorded against AWS.
struct ARN {
    let region: String
    let account: String

    /// What follows the account, split at colons: one part, or two for a subscription.
    let resource: [Substring]

    /// - Parameter parameter: the name of the parameter that the text came in; errors begin with it.
    init(_ text: String, parameter: String) throws(SNSError) {
        // A ninth part would be as wrong as the eighth.
        let parts = text.parts(UInt8(ascii: ":"), maxSplits: 8, omittingEmpty: false)
        guard parts.count >= 6 else {
            throw .invalidParameter(parameter, reason: "An ARN must have at least 6 elements, not \(parts.count)")
        }
        guard parts[0] == "arn", parts[1] == "aws", parts[2] == "sns", parts.count <= 7 else {
            throw .invalidParameter(parameter)
        }
        guard !parts[3].isEmpty, parts[3].utf8.allSatisfy(Self.isWord), parts[4].utf8.count == 12,
            parts[4].utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { throw .invalidParameter(parameter) }
        self.region = String(parts[3])
        self.account = String(parts[4])
        self.resource = Array(parts[5...])
    }

    /// The parts of the resource between slashes, the first of which is `kind`.
    func path(_ kind: String, count: Int, parameter: String) throws(SNSError) -> [Substring] {
        let parts = self.resource[0].parts(UInt8(ascii: "/"), maxSplits: count, omittingEmpty: false)
        guard self.resource.count == 1, parts.count == count, parts[0] == kind else {
            throw .invalidParameter(parameter, reason: "Wrong number of slashes in relative portion of the ARN.")
        }
        return parts
    }

    /// Letters, digits, dashes and underscores.
    static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// A word, or a dot.
    static func isDotted(_ byte: UInt8) -> Bool { byte == UInt8(ascii: ".") || Self.isWord(byte) }
}

/// A platform application: `arn:aws:sns:<region>:<account>:app/<platform>/<name>`.
package struct ApplicationARN: Hashable, Sendable, CustomStringConvertible {
    package let region: String
    package let account: String
    package let platform: Platform
    package let name: String

    package init(region: String, account: String, platform: Platform, name: String) {
        self.region = region
        self.account = account
        self.platform = platform
        self.name = name
    }

    /// - Parameter parameter: the name of the parameter that the text came in.
    package init(_ text: String, parameter: String = "PlatformApplicationArn") throws(SNSError) {
        let arn = try ARN(text, parameter: parameter)
        let path = try arn.path("app", count: 3, parameter: parameter)
        guard Self.isName(path[2]) else { throw .invalidParameter(parameter) }
        // Of a platform that the gateway does not serve there is no application.
        guard let platform = Platform(rawValue: String(path[1])) else { throw .noApplication }
        self.init(region: arn.region, account: arn.account, platform: platform, name: String(path[2]))
    }

    /// `[A-Za-z0-9_.-]{1,256}`.
    package static func isName(_ name: some StringProtocol) -> Bool {
        (1...256).contains(name.utf8.count) && name.utf8.allSatisfy(ARN.isDotted)
    }

    package var description: String {
        "arn:aws:sns:\(self.region):\(self.account):app/\(self.platform.rawValue)/\(self.name)"
    }
}

/// A device at an application: `arn:aws:sns:<region>:<account>:endpoint/<platform>/<application>/<id>`.
package struct EndpointARN: Hashable, Sendable, CustomStringConvertible {
    package let application: ApplicationARN

    /// A UUID in an ARN that is the gateway's own; any word in one that a caller made up.
    package let id: String

    package init(application: ApplicationARN, id: String) {
        self.application = application
        self.id = id
    }

    /// - Parameter parameter: the name of the parameter that the text came in.
    package init(_ text: String, parameter: String = "EndpointArn") throws(SNSError) {
        let arn = try ARN(text, parameter: parameter)
        let path = try arn.path("endpoint", count: 4, parameter: parameter)
        guard ApplicationARN.isName(path[2]), (1...100).contains(path[3].utf8.count),
            path[3].utf8.allSatisfy(ARN.isWord)
        else { throw .invalidParameter(parameter) }
        guard let platform = Platform(rawValue: String(path[1])) else {
            throw parameter == "TargetArn" ? .noTarget : .noEndpoint
        }
        self.application = ApplicationARN(
            region: arn.region,
            account: arn.account,
            platform: platform,
            name: String(path[2])
        )
        self.id = String(path[3])
    }

    package var description: String {
        let application = self.application
        return "arn:aws:sns:\(application.region):\(application.account):endpoint/\(application.platform.rawValue)/"
            + "\(application.name)/\(self.id)"
    }
}

extension EndpointARN {
    /// How many endpoints can be made from one token; later ones stand in when an earlier one's token has changed.
    package static let slots = 3

    /// The endpoint that a token gets at an application: the same on every gateway and after every deletion.
    ///
    /// Its id is version 3, from the MD5 of `<application's ARN>|<token>|<slot>`.
    ///
    /// - Parameter token: as it is stored, in lower case.
    package init(application: ApplicationARN, token: String, slot: Int) {
        self.init(application: application, id: UUID(hashing: "\(application)|\(token)|\(slot)").description)
    }
}
