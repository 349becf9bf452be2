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

        private let actionPatterns: [Pattern]
        private let resourcePatterns: [Pattern]

        package init(allows: Bool = true, actions: [String], resources: [String]) {
            self.allows = allows
            self.actions = actions
            self.resources = resources
            self.actionPatterns = actions.map {
                let action = $0.lowercased()
                return Pattern(action.hasPrefix("sns:") ? String(action.dropFirst(4)) : action)
            }
            self.resourcePatterns = resources.map(Pattern.init)
        }

        /// - Parameter action: in lower case, without a prefix.
        func covers(_ action: [UInt8], _ resources: [[UInt8]]) -> Bool {
            self.actionPatterns.contains { $0.matches(action) }
                && self.resourcePatterns.contains { pattern in resources.contains { pattern.matches($0) } }
        }
    }

    package let statements: [Statement]

    package init(_ statements: [Statement]) {
        self.statements = statements
    }

    /// Everything, on everything.
    package static let all = Self([Statement(actions: ["*"], resources: ["*"])])

    /// - Parameters:
    ///   - action: such as `Publish`, without a prefix.
    ///   - resources: the names of the one resource that the action is for; a statement covers it by any of them.
    package func allows(_ action: String, on resources: [String]) -> Bool {
        let action = Array(action.lowercased().utf8)
        let resources = resources.map { Array($0.utf8) }
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

/// A pattern with `*` for any text and `?` for one byte.
private struct Pattern: Equatable, Sendable {
    private let bytes: [UInt8]

    init(_ text: String) {
        self.bytes = Array(text.utf8)
    }

    /// A failed try begins anew only after the last star, so that no pattern takes longer than its length times the text's.
    func matches(_ text: [UInt8]) -> Bool {
        var at = 0
        var place = 0
        var star: (pattern: Int, text: Int)?
        while at < text.count {
            if place < self.bytes.count, self.bytes[place] == UInt8(ascii: "*") {
                star = (place, at)
                place += 1
            } else if place < self.bytes.count, self.bytes[place] == text[at] || self.bytes[place] == UInt8(ascii: "?")
            {
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
        return self.bytes[place...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
