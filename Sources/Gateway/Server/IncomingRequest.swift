internal import Push

/// One HTTP request, whole, as the signature check and the actions need it.
struct IncomingRequest: Sendable {
    let method: String
    /// As received, still percent-encoded; `/` at least.
    let path: String
    /// As received, without the question mark; empty if there is none.
    let query: String
    /// Names in lower case, `host` included; values as received, in their order.
    let headers: [(name: String, value: String)]
    let body: [UInt8]
    /// When it had arrived whole.
    let time: MonotonicTime

    /// The first value of a header.
    func header(_ name: String) -> String? {
        self.headers.first { $0.name == name }?.value
    }
}

/// What a request is answered with.
struct OutgoingAnswer: Sendable {
    var status: Int
    var contentType: String
    var body: [UInt8]
    var requestID: String?
    /// Whether the connection ends behind it.
    var closes = false

    static func text(_ text: String, status: Int = 200) -> OutgoingAnswer {
        OutgoingAnswer(status: status, contentType: "text/plain; charset=utf-8", body: Array(text.utf8))
    }
}
