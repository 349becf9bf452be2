/// The keys of a policy or of an object within it.
struct FilterRules: Equatable, Sendable {
    struct Key: Equatable, Sendable {
        let name: ExactText
        let rule: Rule
    }

    indirect enum Rule: Equatable, Sendable {
        /// One of them is to match.
        case conditions([FilterCondition])
        /// The value is an object in which these match.
        case nested(FilterRules)
    }

    var keys: [Key] = []

    /// Each `$or`: one of its alternatives is to match.
    var alternatives: [[FilterRules]] = []

    /// - Parameter value: an object, an array in which one object is to match, or nil for one that is not there.
    func matches(_ value: JSONTree?) -> Bool {
        switch value {
        case .array(let elements):
            return elements.contains {
                switch $0 {
                case .array, .object: self.matches($0)
                default: false
                }
            }
        case .object(let members):
            return self.keys.allSatisfy { Self.matches($0.rule, members[$0.name]) }
                && self.alternatives.allSatisfy { $0.contains { $0.matches(value) } }
        default:
            return self.keys.allSatisfy { Self.matches($0.rule, nil) }
                && self.alternatives.allSatisfy { $0.contains { $0.matches(nil) } }
        }
    }

    private static func matches(_ rule: Rule, _ value: JSONTree?) -> Bool {
        switch rule {
        case .nested(let rules): rules.matches(value)
        case .conditions(let conditions): conditions.contains { $0.matches(value) }
        }
    }
}

/// One thing that a value may be.
indirect enum FilterCondition: Equatable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case text(ExactText)
    case prefix(ExactText)
    case suffix(ExactText)
    /// In lower case.
    case equalsIgnoringCase(ExactText)
    case wildcard(Wildcard)
    case anythingBut(AnythingBut)
    case exists(Bool)
    case numeric(NumericRange)
    case cidr(CIDR)

    /// - Parameter value: of an array one element is to match. An object is no value.
    func matches(_ value: JSONTree?) -> Bool {
        if case .exists(let exists) = self {
            switch value {
            case nil, .object?: return !exists
            // An array exists by what is in it.
            case .array(let elements)?: return exists != elements.isEmpty
            default: return exists
            }
        }
        guard let value else { return false }
        guard case .array(let elements) = value else { return self.matchesOne(value) }
        return elements.contains { self.matches($0) }
    }

    private func matchesOne(_ value: JSONTree) -> Bool {
        switch (self, value) {
        case (.null, .null): true
        case (.bool(let wanted), .bool(let found)): wanted == found
        case (.number(let wanted), .number(let found)): wanted == found
        case (.numeric(let range), .number(let found)): range.contains(found)
        case (.anythingBut(let but), _): but.matches(value)
        case (_, .text(let text)): self.matchesText(text)
        default: false
        }
    }

    private func matchesText(_ text: ExactText) -> Bool {
        switch self {
        case .text(let wanted): wanted == text
        case .prefix(let start): text.string.utf8.starts(with: start.string.utf8)
        case .suffix(let end): text.string.utf8.reversed().starts(with: end.string.utf8.reversed())
        case .equalsIgnoringCase(let wanted): ExactText(text.string.lowercased()) == wanted
        case .wildcard(let wildcard): wildcard.matches(text.string)
        case .cidr(let block): block.contains(text.string)
        case .null, .bool, .number, .anythingBut, .exists, .numeric: false
        }
    }
}

/// What a value must not be. Looking up one of many costs no more than one of few.
struct AnythingBut: Equatable, Sendable {
    var texts: Set<ExactText> = []
    var numbers: Set<Double> = []
    var bools: Set<Bool> = []
    var conditions: [FilterCondition] = []

    func matches(_ value: JSONTree) -> Bool {
        switch value {
        case .text(let text):
            return !self.texts.contains(text) && !self.conditions.contains { $0.matches(value) }
        case .number(let number): return !self.numbers.contains(number)
        case .bool(let bool): return !self.bools.contains(bool)
        case .null: return true
        case .array, .object: return false
        }
    }
}

/// A number between bounds, each of which may be left out.
struct NumericRange: Equatable, Sendable {
    var bottom: Double?
    var includesBottom = false
    var top: Double?
    var includesTop = false

    func contains(_ number: Double) -> Bool {
        if let bottom, self.includesBottom ? number < bottom : number <= bottom { return false }
        if let top, self.includesTop ? number > top : number >= top { return false }
        return true
    }
}
