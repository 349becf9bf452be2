/// Reads a filter policy.
struct FilterParser {
    private let scope: FilterPolicy.Scope

    init(_ scope: FilterPolicy.Scope) {
        self.scope = scope
    }

    func parse(_ text: String) throws(FilterFault) -> FilterRules {
        guard case .object(let members)? = try? JSONTree(parsing: text) else {
            throw .policy("failed to parse JSON.")
        }
        guard members.count <= FilterPolicy.keyLimit else {
            throw .policy("Filter policy can not have more than \(FilterPolicy.keyLimit) keys")
        }
        let rules = try self.rules(members)
        guard rules.complexity(depth: 1) <= FilterPolicy.complexityLimit else {
            throw .policy("Filter policy is too complex")
        }
        return rules
    }

    private func rules(_ members: [ExactText: JSONTree]) throws(FilterFault) -> FilterRules {
        var rules = FilterRules()
        // In a fixed order, so that the same policy gives the same error.
        for (name, value) in members.sorted(by: { $0.key.string < $1.key.string }) {
            if let alternatives = Self.alternatives(name, value) {
                var parsed: [FilterRules] = []
                for alternative in alternatives { parsed.append(try self.rules(alternative)) }
                rules.alternatives.append(parsed)
                continue
            }
            switch value {
            case .array(let conditions):
                guard !conditions.isEmpty else { throw .policy("Empty arrays are not allowed") }
                var parsed: [FilterCondition] = []
                for condition in conditions { parsed.append(try FilterCondition(condition)) }
                rules.keys.append(FilterRules.Key(name: name, rule: .conditions(parsed)))
            case .object(let nested):
                guard self.scope == .messageBody else {
                    throw FilterFault("Filter policy scope MessageAttributes does not support nested filter policy")
                }
                guard !nested.isEmpty else { throw .policy("Empty objects are not allowed") }
                rules.keys.append(FilterRules.Key(name: name, rule: .nested(try self.rules(nested))))
            default: throw .policy("\"\(name.string)\" must be an object or an array")
            }
        }
        return rules
    }

    /// The objects of an `$or`; nil for any other key. Amazon takes it for a key like any other unless it has at least two
    /// alternatives, none of which has an operator for a key.
    private static func alternatives(_ name: ExactText, _ value: JSONTree) -> [[ExactText: JSONTree]]? {
        guard name == "$or", case .array(let elements) = value, elements.count >= 2 else { return nil }
        var alternatives: [[ExactText: JSONTree]] = []
        for element in elements {
            guard case .object(let members) = element, !members.isEmpty,
                !members.keys.contains(where: { FilterCondition.operators.contains($0.string) })
            else { return nil }
            alternatives.append(members)
        }
        return alternatives
    }
}

extension FilterRules {
    /// Saturates far above the limit.
    func complexity(depth: Int) -> Int {
        var product = 1
        func multiply(_ factor: Int) { product = min(product * min(factor, 1_000_000), 1_000_000) }
        for key in self.keys {
            switch key.rule {
            case .conditions(let conditions): multiply(conditions.count * depth)
            case .nested(let rules): multiply(rules.complexity(depth: depth + 1))
            }
        }
        for alternatives in self.alternatives {
            multiply(alternatives.reduce(0) { min($0 + $1.complexity(depth: depth), 1_000_000) })
        }
        return product
    }
}

extension FilterCondition {
    static let operators: Set = [
        "prefix", "suffix", "equals-ignore-case", "anything-but", "exists", "numeric", "cidr", "wildcard",
    ]

    init(_ value: JSONTree) throws(FilterFault) {
        switch value {
        case .null: self = .null
        case .bool(let bool): self = .bool(bool)
        case .number(let number): self = .number(try Self.inRange(number))
        case .text(let text): self = .text(text)
        case .array: throw .policy("Match value must be String, number, true, false, or null")
        case .object(let members):
            guard members.count == 1, let (name, value) = members.first else {
                throw .policy("Only one key allowed in match expression")
            }
            try self.init(name.string, value)
        }
    }

    private init(_ name: String, _ value: JSONTree) throws(FilterFault) {
        switch name {
        case "prefix": self = .prefix(try Self.text(name, value))
        case "suffix": self = .suffix(try Self.text(name, value))
        case "equals-ignore-case":
            self = .equalsIgnoringCase(ExactText(try Self.text(name, value).string.lowercased()))
        case "wildcard":
            guard let wildcard = Wildcard(try Self.text(name, value).string) else {
                throw .policy(
                    "wildcard match pattern must have at most \(Wildcard.starLimit) wildcard characters, no two together"
                )
            }
            self = .wildcard(wildcard)
        case "cidr":
            guard let block = CIDR(try Self.text(name, value).string) else {
                throw .policy("Malformed CIDR, an address and its number of bits are required")
            }
            self = .cidr(block)
        case "exists":
            guard case .bool(let exists) = value else {
                throw .policy("exists match pattern must be either true or false.")
            }
            self = .exists(exists)
        case "numeric": self = .numeric(try NumericRange(value))
        case "anything-but": self = .anythingBut(try AnythingBut(value))
        default: throw .policy("Unrecognized match type \(name)")
        }
    }

    private static func text(_ name: String, _ value: JSONTree) throws(FilterFault) -> ExactText {
        guard case .text(let text) = value else { throw .policy("\(name) match pattern must be a string") }
        return text
    }

    /// Amazon compares numbers from −10⁹ to 10⁹ only.
    fileprivate static func inRange(_ number: Double) throws(FilterFault) -> Double {
        guard abs(number) <= 1e9 else { throw .policy("Value must be between -1.0E9 and 1.0E9, inclusive") }
        return number
    }
}

extension AnythingBut {
    init(_ value: JSONTree) throws(FilterFault) {
        switch value {
        case .array(let elements):
            guard !elements.isEmpty else { throw .policy("Empty arrays are not allowed") }
            for element in elements { try self.insert(element) }
        case .object(let members):
            guard members.count == 1, let (name, value) = members.first else {
                throw .policy("Only one key allowed in match expression")
            }
            guard ["prefix", "suffix", "equals-ignore-case", "wildcard"].contains(name.string) else {
                throw .policy("Unsupported anything-but pattern: \(name.string)")
            }
            guard case .array(let elements) = value, !elements.isEmpty else {
                self.conditions = [try FilterCondition(.object(members))]
                return
            }
            guard elements.count <= FilterPolicy.complexityLimit else { throw .policy("Filter policy is too complex") }
            for element in elements { self.conditions.append(try FilterCondition(.object([name: element]))) }
        default: try self.insert(value)
        }
    }

    private mutating func insert(_ value: JSONTree) throws(FilterFault) {
        switch value {
        case .text(let text): self.texts.insert(text)
        case .number(let number): self.numbers.insert(try FilterCondition.inRange(number))
        case .bool(let bool): self.bools.insert(bool)
        case .null, .array, .object:
            throw .policy("Inside anything but list, start|null|boolean is not supported.")
        }
    }
}

extension NumericRange {
    /// `["=", 1]`, `["<", 1]`, `[">", 1, "<=", 2]` and so on.
    init(_ value: JSONTree) throws(FilterFault) {
        guard case .array(let elements) = value else { throw .policy("Value of numeric must be an array.") }
        guard !elements.isEmpty else { throw .policy("Invalid member in numeric match: ]") }
        guard case .text(let name) = elements[0] else { throw .policy("Invalid member in numeric match") }
        let number = try Self.number(name.string, elements.dropFirst().first)
        switch name.string {
        case "=":
            self.bottom = number
            self.top = number
            self.includesBottom = true
            self.includesTop = true
        case ">", ">=":
            self.bottom = number
            self.includesBottom = name == ">="
        case "<", "<=":
            self.top = number
            self.includesTop = name == "<="
        default: throw .policy("Unrecognized numeric range operator: \(name.string)")
        }
        guard elements.count > 2 else { return }
        guard self.top == nil else { throw .policy("Too many elements in numeric expression") }
        guard case .text(let second) = elements[2], second == "<" || second == "<=" else {
            throw .policy("Bad numeric range operator")
        }
        let top = try Self.number(second.string, elements.count > 3 ? elements[3] : nil)
        guard top > number else { throw .policy("Bottom must be less than top") }
        guard elements.count == 4 else { throw .policy("Too many terms in numeric range expression") }
        self.top = top
        self.includesTop = second == "<="
    }

    private static func number(_ name: String, _ value: JSONTree?) throws(FilterFault) -> Double {
        guard ["=", "<", "<=", ">", ">="].contains(name) else {
            throw .policy("Unrecognized numeric range operator: \(name)")
        }
        guard case .number(let number)? = value else {
            throw .policy("Value of \(name == "=" ? "equals" : name) must be numeric")
        }
        return try FilterCondition.inRange(number)
    }
}
