/// The parts of a request's header list that the checks look at, as ranges of one buffer.
struct RequestHead: Sendable {
    /// The header that each place of `known` stands for, in the order of the checks.
    enum Field: Int, CaseIterable {
        case authorization, messageID, expiration, priority, collapseID, topic, pushType

        var name: StaticString {
            switch self {
            case .authorization: "authorization"
            case .messageID: "apns-id"
            case .expiration: "apns-expiration"
            case .priority: "apns-priority"
            case .collapseID: "apns-collapse-id"
            case .topic: "apns-topic"
            case .pushType: "apns-push-type"
            }
        }
    }

    let bytes: [UInt8]
    let method: Range<Int>
    let path: Range<Int>
    private(set) var authorization: Range<Int>?
    private(set) var messageID: Range<Int>?
    private(set) var expiration: Range<Int>?
    private(set) var priority: Range<Int>?
    private(set) var collapseID: Range<Int>?
    private(set) var topic: Range<Int>?
    private(set) var pushType: Range<Int>?
    /// Whether one of the headers above came twice; the first one is kept.
    private(set) var hasDuplicates = false

    init(bytes: [UInt8], method: Range<Int>, path: Range<Int>) {
        self.bytes = bytes
        self.method = method
        self.path = path
    }

    /// Takes in one header; those it does not know are ignored, as APNs does.
    mutating func add(name: Range<Int>, value: Range<Int>) {
        guard let field = self.field(named: name) else { return }
        switch field {
        case .authorization: Self.set(&self.authorization, value, &self.hasDuplicates)
        case .messageID: Self.set(&self.messageID, value, &self.hasDuplicates)
        case .expiration: Self.set(&self.expiration, value, &self.hasDuplicates)
        case .priority: Self.set(&self.priority, value, &self.hasDuplicates)
        case .collapseID: Self.set(&self.collapseID, value, &self.hasDuplicates)
        case .topic: Self.set(&self.topic, value, &self.hasDuplicates)
        case .pushType: Self.set(&self.pushType, value, &self.hasDuplicates)
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
    private func field(named name: Range<Int>) -> Field? {
        switch name.count {
        case 7: self.match(name, .messageID)
        case 10: self.match(name, .topic)
        case 13: self.match(name, .authorization) ?? self.match(name, .priority)
        case 14: self.match(name, .pushType)
        case 15: self.match(name, .expiration)
        case 16: self.match(name, .collapseID)
        default: nil
        }
    }

    private func match(_ name: Range<Int>, _ field: Field) -> Field? {
        let expected = UnsafeBufferPointer(start: field.name.utf8Start, count: field.name.utf8CodeUnitCount)
        return self.bytes[name].elementsEqual(expected) ? field : nil
    }
}
