/// The keys a body of contract version 1 may hold.
package enum EnvelopeField: String, CaseIterable, Sendable {
    case version
    case app
    case tokens
    case channel
    case pushType = "push_type"
    case priority
    case collapseID = "collapse_id"
    case topic
    case expiresAt = "expires_at"
    case notBefore = "not_before"
    case payload
    case receipt

    /// The field with this key; nil for an unknown one. The length picks the candidate, so a body costs few compares.
    static func named(_ key: Range<Int>, in scanner: borrowing JSONScanner) -> Self? {
        switch key.count {
        case 3: scanner.equals(key, "app") ? .app : nil
        case 5: scanner.equals(key, "topic") ? .topic : nil
        case 6: scanner.equals(key, "tokens") ? .tokens : nil
        case 7:
            scanner.equals(key, "payload")
                ? .payload
                : scanner.equals(key, "version")
                    ? .version
                    : scanner.equals(key, "channel") ? .channel : scanner.equals(key, "receipt") ? .receipt : nil
        case 8: scanner.equals(key, "priority") ? .priority : nil
        case 9: scanner.equals(key, "push_type") ? .pushType : nil
        case 10: scanner.equals(key, "expires_at") ? .expiresAt : scanner.equals(key, "not_before") ? .notBefore : nil
        case 11: scanner.equals(key, "collapse_id") ? .collapseID : nil
        default: nil
        }
    }

    /// This field's bit in a set of seen fields.
    var bit: UInt16 {
        switch self {
        case .version: 1
        case .app: 2
        case .tokens: 4
        case .pushType: 8
        case .priority: 16
        case .collapseID: 32
        case .topic: 64
        case .expiresAt: 128
        case .notBefore: 256
        case .payload: 512
        case .channel: 2048
        case .receipt: 4096
        }
    }
}
