/// Which messages of a topic a subscriber wants.
///
/// Keys are all to match, and of a key's conditions one. Source: Amazon SNS Developer Guide, "Filter policies in Amazon SNS"; the texts
/// of errors as recorded against AWS.
package struct FilterPolicy: Equatable, Sendable {
    /// What the keys are names of.
    package enum Scope: String, Sendable {
        case messageAttributes = "MessageAttributes"
        /// Of members of the message, which has to be a JSON object.
        case messageBody = "MessageBody"
    }

    /// Keys of a policy.
    package static let keyLimit = 5

    /// The product of the numbers of conditions, each times the depth at which they stand.
    package static let complexityLimit = 150

    package let scope: Scope

    let rules: FilterRules

    /// - Parameter prefix: what stands between "Invalid parameter: " and the text of an error: `Attributes Reason: ` in Subscribe.
    package init(parsing text: String, scope: Scope, prefix: String = "") throws(SNSError) {
        do throws(FilterFault) {
            self.scope = scope
            self.rules = try FilterParser(scope).parse(text)
        } catch {
            throw .invalidParameter(prefix + error.text)
        }
    }

    package func matches(_ subject: FilterSubject) -> Bool {
        switch self.scope {
        case .messageAttributes: self.rules.matches(.object(subject.attributes))
        case .messageBody:
            if case .object? = subject.body { self.rules.matches(subject.body) } else { false }
        }
    }

    /// - Parameter body: the text that the subscriber would get.
    package func matches(attributes: MessageAttributes, body: String) -> Bool {
        self.matches(FilterSubject(attributes, body: self.scope == .messageBody ? body : ""))
    }
}

/// What policies look at, read once for all subscribers of a topic.
package struct FilterSubject: Sendable {
    let attributes: [ExactText: JSONTree]
    let body: JSONTree?

    /// - Parameter body: the text that subscribers get; one that is no JSON matches no policy of scope `MessageBody`. Empty if no
    ///   policy has this scope.
    package init(_ attributes: MessageAttributes, body: String) {
        var values: [ExactText: JSONTree] = [:]
        for (name, value) in attributes.all {
            guard case .text(let text) = value.content else { continue }
            values[ExactText(name)] = Self.value(value.dataType, text)
        }
        self.attributes = values
        self.body = body.isEmpty ? nil : try? JSONTree(parsing: body)
    }

    private static func value(_ dataType: String, _ text: String) -> JSONTree? {
        if dataType == "String.Array" {
            guard case .array(let elements)? = try? JSONTree(parsing: text) else { return nil }
            return .array(elements)
        }
        if dataType == "Number" || dataType.hasPrefix("Number.") { return JSONTree.number(text).map(JSONTree.number) }
        return .text(ExactText(text))
    }
}

/// Why a policy is refused.
struct FilterFault: Error, Equatable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    static func policy(_ text: String) -> Self { Self("FilterPolicy: " + text) }
}
