package import Push

/// A push service of Apple's as Amazon names it. Also the key of its payload in a message of structure `json`.
package enum Platform: String, CaseIterable, Sendable {
    case apns = "APNS"
    case apnsSandbox = "APNS_SANDBOX"
    case voip = "APNS_VOIP"
    case voipSandbox = "APNS_VOIP_SANDBOX"
    case macOS = "MACOS"
    case macOSSandbox = "MACOS_SANDBOX"
    case passbook = "APNS_PASSBOOK"
    case passbookSandbox = "APNS_PASSBOOK_SANDBOX"
    case mdm = "APNS_MDM"
    case mdmSandbox = "APNS_MDM_SANDBOX"

    /// Whether it is `api.sandbox.push.apple.com`.
    package var isSandbox: Bool { self.rawValue.hasSuffix("_SANDBOX") }

    /// The same in production.
    package var production: Self {
        switch self {
        case .apns, .apnsSandbox: .apns
        case .voip, .voipSandbox: .voip
        case .macOS, .macOSSandbox: .macOS
        case .passbook, .passbookSandbox: .passbook
        case .mdm, .mdmSandbox: .mdm
        }
    }
}

extension ApplicationARN {
    /// The app of the fleet that sends for this application: `sns.`, the platform in lower case with dashes, and the name, such as
    /// `sns.apns-sandbox.MyApp`.
    ///
    /// A name with which that has more than 128 bytes is cut and followed by the hash of the whole. Region and account have no
    /// part in it: a gateway serves one of each.
    package var appID: AppID {
        let platform = self.platform.rawValue.lowercased().split(separator: "_").joined(separator: "-")
        let whole = "sns.\(platform).\(self.name)"
        let text =
            whole.utf8.count <= Contract.appBytes.upperBound
            ? whole : "\(whole.prefix(Contract.appBytes.upperBound - 37)).\(UUID(hashing: whole))"
        guard let id = AppID(text) else {
            preconditionFailure("an application's name has characters of an app's name only")
        }
        return id
    }
}
