/// What an access key may do: statements with actions and resources, as in IAM.
///
/// A statement that denies goes before all that allow; what no statement allows is denied. Source: AWS IAM User Guide, "Policy
/// evaluation logic".
package struct AccessPolicy: Equatable, Sendable {
    package struct Statement: Equatable, Sendable {
        package let allows: Bool

        /// Patterns such as `sns:Publish`, `sns:*` or `Publish`; letters in any case.
        package let actions: [String]

        /// Patterns of ARNs, such as `arn:aws:sns:*:*:app/APNS/*`. An application's stands for its endpoints as well.
        package let resources: [String]

        package init(allows: Bool = true, actions: [String], resources: [String]) {
            self.allows = allows
            self.actions = actions
            self.resources = resources
        }

        func covers(_ action: String, _ resources: [String]) -> Bool {
            self.actions.contains { pattern in
                Pattern.matches(Self.unprefixed(pattern.lowercased()), Self.unprefixed(action.lowercased()))
            }
                && self.resources.contains { pattern in resources.contains { Pattern.matches(pattern, $0) } }
        }

        private static func unprefixed(_ action: String) -> String {
            action.hasPrefix("sns:") ? String(action.dropFirst(4)) : action
        }
    }

    package let statements: [Statement]

    package init(_ statements: [Statement]) {
        self.statements = statements
    }

    /// Everything, on everything.
    package static let all = Self([Statement(actions: ["*"], resources: ["*"])])

    /// - Parameters:
    ///   - action: such as `Publish`.
    ///   - resources: the names of the one resource that the action is for; a statement covers it by any of them.
    package func allows(_ action: String, on resources: [String]) -> Bool {
        var isAllowed = false
        for statement in self.statements where statement.covers(action, resources) {
            guard statement.allows else { return false }
            isAllowed = true
        }
        return isAllowed
    }
}

extension Principal {
    /// - Throws: `AuthorizationError` for what its policy does not allow.
    ///
    /// - Parameters:
    ///   - region: the gateway's, for resources that are about to be made.
    ///   - account: the same.
    package func check(_ action: Action, region: String, account: String) throws(SNSError) {
        let resources = action.resources(region: region, account: account)
        guard self.policy.allows(action.name.rawValue, on: resources) else {
            throw .notAuthorized(self.arn, action: action.name.rawValue, resource: resources[0])
        }
    }
}

/// Patterns with `*` for any text and `?` for one byte.
enum Pattern {
    /// Linear in the text for each star, whatever the pattern: a failed try begins anew only after the last star.
    static func matches(_ pattern: String, _ text: String) -> Bool {
        let pattern = Array(pattern.utf8)
        let text = Array(text.utf8)
        var at = 0
        var place = 0
        var star: (pattern: Int, text: Int)?
        while at < text.count {
            if place < pattern.count, pattern[place] == UInt8(ascii: "*") {
                star = (place, at)
                place += 1
            } else if place < pattern.count, pattern[place] == text[at] || pattern[place] == UInt8(ascii: "?") {
                place += 1
                at += 1
            } else if let last = star {
                star = (last.pattern, last.text + 1)
                place = last.pattern + 1
                at = last.text + 1
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
