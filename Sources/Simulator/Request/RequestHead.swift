/// The parts of a request's header list that the checks look at, in one buffer.
struct RequestHead: Sendable {
    private enum Field {
        case authorization, messageID, expiration, priority, collapseID, topic, pushType, channelID, requestID

        var name: StaticString {
            switch self {
            case .authorization: "authorization"
            case .messageID: "apns-id"
            case .expiration: "apns-expiration"
            case .priority: "apns-priority"
            case .collapseID: "apns-collapse-id"
            case .topic: "apns-topic"
            case .pushType: "apns-push-type"
            case .channelID: "apns-channel-id"
            case .requestID: "apns-request-id"
            }
        }
    }

    private var bytes: [UInt8] = []
    let method: Range<Int>
    let path: Range<Int>
    private(set) var authorization: Range<Int>?
    private(set) var messageID: Range<Int>?
    private(set) var expiration: Range<Int>?
    private(set) var priority: Range<Int>?
    private(set) var collapseID: Range<Int>?
    private(set) var topic: Range<Int>?
    private(set) var pushType: Range<Int>?
    private(set) var channelID: Range<Int>?
    private(set) var requestID: Range<Int>?
    /// Whether one of the headers above came twice; the first one is kept.
    private(set) var hasDuplicates = false

    init(method: UnsafeRawBufferPointer, path: UnsafeRawBufferPointer) {
        self.bytes.reserveCapacity(640)
        self.bytes.append(contentsOf: method)
        self.bytes.append(contentsOf: path)
        self.method = 0..<method.count
        self.path = method.count..<self.bytes.count
    }

    /// Takes in one header; those it does not know are ignored, as APNs does.
    mutating func add(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        guard let field = Self.field(named: name) else { return }
        let range = self.bytes.count..<self.bytes.count + value.count
        self.bytes.append(contentsOf: value)
        switch field {
        case .authorization: Self.set(&self.authorization, range, &self.hasDuplicates)
        case .messageID: Self.set(&self.messageID, range, &self.hasDuplicates)
        case .expiration: Self.set(&self.expiration, range, &self.hasDuplicates)
        case .priority: Self.set(&self.priority, range, &self.hasDuplicates)
        case .collapseID: Self.set(&self.collapseID, range, &self.hasDuplicates)
        case .topic: Self.set(&self.topic, range, &self.hasDuplicates)
        case .pushType: Self.set(&self.pushType, range, &self.hasDuplicates)
        case .channelID: Self.set(&self.channelID, range, &self.hasDuplicates)
        case .requestID: Self.set(&self.requestID, range, &self.hasDuplicates)
        }
    }

    subscript(range: Range<Int>) -> ArraySlice<UInt8> { self.bytes[range] }

    private static func set(_ place: inout Range<Int>?, _ value: Range<Int>, _ isDuplicate: inout Bool) {
        if place == nil {
            place = value
        } else {
            isDuplicate = true
        }
    }

    /// The lengths tell nearly all names apart, so few are compared in full.
    private static func field(named name: UnsafeRawBufferPointer) -> Field? {
        switch name.count {
        case 7: self.match(name, .messageID)
        case 10: self.match(name, .topic)
        case 13: self.match(name, .authorization) ?? self.match(name, .priority)
        case 14: self.match(name, .pushType)
        case 15:
            self.match(name, .expiration) ?? self.match(name, .channelID) ?? self.match(name, .requestID)
        case 16: self.match(name, .collapseID)
        default: nil
        }
    }

    private static func match(_ name: UnsafeRawBufferPointer, _ field: Field) -> Field? {
        let expected = field.name.utf8Start
        for index in 0..<name.count where name[index] != expected[index] { return nil }
        return field
    }
}
