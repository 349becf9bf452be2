/// What AddPermission adds to a topic's policy.
package struct TopicPermission: Equatable, Sendable {
    package let label: String
    /// 12 digits each.
    package let accounts: [String]
    /// Without a prefix, such as `Publish`.
    package let actions: [String]

    package init(label: String, accounts: [String], actions: [String]) {
        self.label = label
        self.accounts = accounts
        self.actions = actions
    }

    // MARK: As it is stored among a topic's attributes, one each, so that no two calls are in each other's way

    package static let prefix = "permission/"

    package var attribute: String { Self.prefix + self.label }

    /// Accounts, a bar, and actions.
    package var value: String { (self.accounts + ["|"] + self.actions).joined(separator: " ") }

    /// Those of a topic, by their labels.
    package static func all(in attributes: [String: String]) -> [Self] {
        attributes.filter { $0.key.hasPrefix(Self.prefix) && !$0.value.isEmpty }.sorted { $0.key < $1.key }.map {
            let parts = $0.value.split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false)
            let words = parts.map { $0.split(separator: " ").map(String.init) }
            return Self(
                label: String($0.key.dropFirst(Self.prefix.count)),
                accounts: words.first ?? [],
                actions: words.count > 1 ? words[1] : []
            )
        }
    }

    /// As Amazon writes it: one account or action stands alone, several in a list.
    func statement(_ topic: TopicARN) -> String {
        func list(_ texts: [String]) -> String {
            let all = texts.map { JSONText.string($0) }
            return all.count == 1 ? all[0] : "[\(all.joined(separator: ","))]"
        }
        return "{\"Sid\":\(JSONText.string(self.label)),\"Effect\":\"Allow\",\"Principal\":{\"AWS\":"
            + list(self.accounts.map { "arn:aws:iam::\($0):root" }) + "},\"Action\":"
            + list(self.actions.map { "SNS:\($0)" }) + ",\"Resource\":\(JSONText.string("\(topic)"))}"
    }
}
