internal import Broker
internal import Foundation
internal import Push

/// A dead letter as one line of JSON: what `pushfleet dead export` writes and `import` reads.
struct DeadLetterLine: Codable, Equatable {
    var id: String?
    var messageID: String?
    /// Instead of the text, where it is no UTF-8.
    var messageIDBase64: String?
    var routingKey: String
    var reason: String
    var apnsReason: String?
    var field: String?
    var detail: String?
    var diedAt: Int64?
    var firstSeen: Int64?
    /// Whole seconds, as AMQP has them.
    var published: Int64?
    var attempt: Int?
    var copy: Int?
    var worker: String?
    var version: String?
    var isUnfinished: Bool?
    var contentType: String?
    var headers: [String: DeadLetterHeaderValue]?
    var body: String?
    /// Instead of the text, where it is no UTF-8.
    var bodyBase64: String?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case id
        case messageID = "message_id"
        case messageIDBase64 = "message_id_base64"
        case routingKey = "routing_key"
        case reason
        case apnsReason = "apns_reason"
        case field, detail
        case diedAt = "died_at_ms"
        case firstSeen = "first_seen_ms"
        case published = "published_s"
        case attempt, copy, worker, version
        case isUnfinished = "unfinished"
        case contentType = "content_type"
        case headers, body
        case bodyBase64 = "body_base64"
    }

    init(_ letter: DeadLetter) {
        let messageID = String(validating: letter.messageID, as: UTF8.self)
        let body = String(validating: letter.body, as: UTF8.self)
        self.id = "\(letter.id)"
        self.messageID = letter.messageID.isEmpty ? nil : messageID
        self.messageIDBase64 = messageID == nil ? Data(letter.messageID).base64EncodedString() : nil
        self.routingKey = letter.routingKey
        self.reason = letter.reason
        self.apnsReason = letter.apnsReason
        self.field = letter.field
        self.detail = letter.detail
        self.diedAt = letter.diedAt?.milliseconds
        self.firstSeen = letter.firstSeen?.milliseconds
        self.published = letter.published?.seconds
        self.attempt = letter.attempts
        self.copy = letter.copies
        self.worker = letter.worker
        self.version = letter.version
        self.isUnfinished = letter.isUnfinished ? true : nil
        self.contentType = letter.contentType
        let headers = letter.foreign.map { ($0.name, DeadLetterHeaderValue($0.value)) }
        self.headers = headers.isEmpty ? nil : Dictionary(headers) { first, _ in first }
        self.body = body
        self.bodyBase64 = body == nil ? Data(letter.body).base64EncodedString() : nil
    }
}

/// A header's value in JSON: times and what is no plain value have a name in front, so that they come back as they were.
enum DeadLetterHeaderValue: Codable, Equatable {
    case string(String)
    case integer(Int64)
    case bool(Bool)
    case double(Double)
    case timestamp(Int64)
    case none

    private enum Name: String, CodingKey {
        case timestamp
    }

    init(_ value: HeaderValue) {
        switch value {
        case .string(let text): self = .string(text)
        case .integer(let number): self = .integer(number)
        case .bool(let bool): self = .bool(bool)
        case .double(let number): self = number.isFinite ? .double(number) : .string("\(number)")
        case .timestamp(let time): self = .timestamp(time.seconds)
        case .none, .array, .table, .unread: self = .none
        }
    }

    var value: HeaderValue {
        switch self {
        case .string(let text): .string(text)
        case .integer(let number): .integer(number)
        case .bool(let bool): .bool(bool)
        case .double(let number): .double(number)
        case .timestamp(let seconds): .timestamp(UnixTime(seconds: seconds))
        case .none: .none
        }
    }

    init(from decoder: any Decoder) throws {
        if let table = try? decoder.container(keyedBy: Name.self) {
            self = .timestamp(try table.decode(Int64.self, forKey: .timestamp))
            return
        }
        let single = try decoder.singleValueContainer()
        if single.decodeNil() {
            self = .none
        } else if let bool = try? single.decode(Bool.self) {
            self = .bool(bool)
        } else if let number = try? single.decode(Int64.self) {
            self = .integer(number)
        } else if let number = try? single.decode(Double.self) {
            self = .double(number)
        } else {
            self = .string(try single.decode(String.self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        if case .timestamp(let seconds) = self {
            var table = encoder.container(keyedBy: Name.self)
            return try table.encode(seconds, forKey: .timestamp)
        }
        var single = encoder.singleValueContainer()
        switch self {
        case .string(let text): try single.encode(text)
        case .integer(let number): try single.encode(number)
        case .bool(let bool): try single.encode(bool)
        case .double(let number): try single.encode(number)
        case .none, .timestamp: try single.encodeNil()
        }
    }
}
