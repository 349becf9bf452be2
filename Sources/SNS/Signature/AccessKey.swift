/// Keys that calls may be signed with.
package struct AccessKey: Sendable {
    /// Such as `AKIDEXAMPLE`.
    package let id: String

    /// Never printed.
    package let secret: String

    /// What `X-Amz-Security-Token` has to be; nil for a key that comes without.
    package let sessionToken: String?

    /// Who calls with it.
    package let principal: Principal

    package init(id: String, secret: String, sessionToken: String? = nil, principal: Principal) {
        self.id = id
        self.secret = secret
        self.sessionToken = sessionToken
        self.principal = principal
    }
}

/// Who calls, and what it may do.
package struct Principal: Sendable {
    /// As `AuthorizationError` names it: `arn:aws:iam::<account>:user/<name>`.
    package let arn: String

    /// The access key id; nil for an anonymous caller.
    package let accessKeyID: String?

    package let policy: AccessPolicy

    package init(arn: String, accessKeyID: String?, policy: AccessPolicy) {
        self.arn = arn
        self.accessKeyID = accessKeyID
        self.policy = policy
    }
}

extension AccessKey: CustomStringConvertible {
    /// Without the secret.
    package var description: String { "AccessKey(\(self.id))" }
}
