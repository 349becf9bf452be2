/// A message body in the making: good unless a test changes something.
struct Draft: Sendable {
    var app = Fleet.app
    var lane = "now"
    var tokens: [String]
    var payload = #"{"aps":{"alert":"Hello"}}"#
    /// More members, each as `"key":value`.
    var more: [String] = []

    init(_ tokens: String..., app: String = Fleet.app) {
        self.tokens = tokens
        self.app = app
    }

    init(tokens: [String]) {
        self.tokens = tokens
    }

    func with(_ members: String...) -> Draft {
        var draft = self
        draft.more += members
        return draft
    }

    var routingKey: String { "\(self.app).\(self.lane)" }

    var text: String {
        let tokens = self.tokens.map { "\"\($0)\"" }.joined(separator: ",")
        let members =
            [#""app":"\#(self.app)""#, "\"tokens\":[\(tokens)]"] + self.more + ["\"payload\":\(self.payload)"]
        return "{\(members.joined(separator: ","))}"
    }

    var body: [UInt8] { Array(self.text.utf8) }

    /// A token of 64 digits that nobody else's number gives.
    static func token(_ number: Int, prefix: String = "") -> String {
        let digits = String(number, radix: 16)
        return prefix + String(repeating: "0", count: 64 - prefix.count - digits.count) + digits
    }
}
