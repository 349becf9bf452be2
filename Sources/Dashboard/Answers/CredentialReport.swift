internal import Desk
internal import Push
internal import Store

/// One credential in the list of credentials.
struct CredentialReport: Encodable, Equatable {
    let name: String
    let kind: ConfiguredFleet.Credential.Kind
    let environment: String
    let pool: String
    let teamId: String?
    let keyId: String?
    let subject: String?
    let expiresAtMs: Int64?
    let maxConnections: Int
    let apps: Int
    /// By this credential's refusals.
    let pausedApps: Int
    let state: String
    let text: String?
    let fix: String?

    private static let day: Int64 = 86_400_000
    /// Apple's certificates last a year; a month is time enough for a new one.
    private static let warningDays: Int64 = 30

    /// Those that need attention first.
    static func all(_ picture: FleetPicture) -> [CredentialReport] {
        let order = ["fail": 0, "warn": 1, "ok": 2]
        return picture.configured.credentials.map { CredentialReport($0, picture) }
            .sorted { (order[$0.state] ?? 3, $0.name) < (order[$1.state] ?? 3, $1.name) }
    }

    private init(_ credential: ConfiguredFleet.Credential, _ picture: FleetPicture) {
        let apps = picture.apps.filter { $0.credential == credential.name }
        // What workers use counts; a file that was replaced a moment ago does not yet.
        let inUse = picture.status?.workers.compactMap { $0.certificatesExpireAt[credential.pool] }.min()
        let expires = inUse ?? credential.expiresAt
        self.name = credential.name
        self.kind = credential.kind
        self.environment = credential.environment
        self.pool = credential.pool
        self.teamId = credential.teamID
        self.keyId = credential.keyID
        self.subject = credential.subject
        self.expiresAtMs = expires?.milliseconds
        self.maxConnections = credential.maxConnections
        self.apps = apps.count
        let refused = apps.filter { $0.paused?.cause == "credential" }
        self.pausedApps = refused.count
        let renew = "Renew it and replace the file; no restart is needed."
        let left = expires.map { ($0 - picture.time).milliseconds / Self.day }
        if let pause = refused.first?.paused {
            let others = refused.count > 1 ? " and \(refused.count - 1) more" : ""
            self.state = "fail"
            self.text = "Apple refuses it for \(pause.app)\(others)\(pause.reason.map { ": \($0)" } ?? "")"
            self.fix = "Check key id, team id and file; run pushfleet doctor."
        } else if let expires, expires <= picture.time {
            (self.state, self.text, self.fix) = ("fail", "the certificate has ended", renew)
        } else if let left, left < Self.warningDays {
            (self.state, self.text, self.fix) = ("warn", "the certificate ends in \(left) days", renew)
        } else {
            (self.state, self.text, self.fix) = ("ok", nil, nil)
        }
    }
}
