internal import Foundation

/// What a call is answered with, whoever carries it.
struct Answer: Sendable {
    enum Body: Sendable {
        case bytes([UInt8])
        /// Server-sent events, until the stream ends.
        case events(AsyncStream<String>)
    }

    var status = 200
    var contentType = "application/json"
    var headers: [(name: String, value: String)] = []
    var body = Body.bytes([])
    /// Whether the connection ends behind it.
    var closes = false

    /// Keys in snake case; those of dictionaries as they are.
    static func json(_ value: some Encodable, status: Int = 200) -> Answer {
        Answer(status: status, body: .bytes(Self.encode(value)))
    }

    static func encode(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf",
            negativeInfinity: "-inf",
            nan: "nan"
        )
        // Our values are plain: nothing in them can fail to be written.
        return (try? encoder.encode(value)).map { [UInt8]($0) } ?? Array("{}".utf8)
    }

    static func text(_ text: String, status: Int = 200) -> Answer {
        Answer(status: status, contentType: "text/plain; charset=utf-8", body: .bytes(Array(text.utf8)))
    }

    static func problem(_ problem: Problem) -> Answer {
        var answer = Self.json(problem, status: problem.status)
        if let seconds = problem.retryAfter { answer.headers.append(("retry-after", "\(seconds)")) }
        return answer
    }
}
