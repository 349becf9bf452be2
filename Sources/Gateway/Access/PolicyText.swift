package import SNS

/// What an access key may do as an operator writes it: a list of `<action> on <resource>`; anything else is refused.
///
/// Resources are the part of an ARN behind the account: a topic's name, or `app/<PLATFORM>/<name>` for an application
/// and all of its endpoints. `*` stands for any characters in both.
package enum PolicyText {
    /// Reads `Publish on app/APNS/*, Subscribe on news-*`; without `on`, any resource is meant.
    /// - Throws: ``Problem``, which says what is wrong with which part.
    package static func parse(_ text: String) throws(Problem) -> AccessPolicy {
        var statements: [AccessPolicy.Statement] = []
        for part in text.split(separator: ",") {
            let words = part.split(separator: " ").map(String.init)
            guard words.count == 1 || words.count == 3 && words[1] == "on" else {
                throw Problem(phrase: "has \"\(words.joined(separator: " "))\", which is not <action> on <resource>")
            }
            guard words[0].utf8.allSatisfy(Self.isActionLetter) else {
                throw Problem(
                    phrase: "has the action \"\(words[0])\"; actions are letters and *, such as Publish or List*"
                )
            }
            let resource = words.count == 3 && words[2] != "*" ? "arn:aws:sns:*:*:\(words[2])" : "*"
            statements.append(AccessPolicy.Statement(actions: [words[0]], resources: [resource]))
        }
        guard !statements.isEmpty else { throw Problem(phrase: "allows nothing; write * to allow everything") }
        return AccessPolicy(statements)
    }

    /// What is wrong with a policy's text: the half of a sentence that follows it.
    package struct Problem: Error, Equatable {
        package let phrase: String
    }

    private static func isActionLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "*"): true
        default: false
        }
    }
}
