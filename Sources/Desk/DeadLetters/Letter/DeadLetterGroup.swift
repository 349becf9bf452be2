/// How many dead letters share app and reasons.
package struct DeadLetterGroup: Equatable, Sendable {
    package let app: String?
    package let reason: String
    package let apnsReason: String?
    package let count: Int
    package let tokens: Int

    private struct Name: Hashable {
        let app: String?
        let reason: String
        let apnsReason: String?
    }

    /// The groups of these letters, the largest first; by name where they are equal.
    /// - Parameter byApp: whether apps are told apart.
    package static func of(_ letters: some Sequence<DeadLetter>, byApp: Bool = true) -> [DeadLetterGroup] {
        var sums: [Name: (count: Int, tokens: Int)] = [:]
        for letter in letters {
            let name = Name(app: byApp ? letter.app : nil, reason: letter.reason, apnsReason: letter.apnsReason)
            sums[name, default: (0, 0)].count += 1
            sums[name, default: (0, 0)].tokens += letter.tokens ?? 0
        }
        let groups = sums.map { name, sum in
            DeadLetterGroup(
                app: name.app,
                reason: name.reason,
                apnsReason: name.apnsReason,
                count: sum.count,
                tokens: sum.tokens
            )
        }
        return groups.sorted { left, right in
            left.count == right.count ? left.sortName < right.sortName : left.count > right.count
        }
    }

    private var sortName: (String, String, String) { (self.app ?? "", self.reason, self.apnsReason ?? "") }
}
