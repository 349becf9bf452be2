internal import CRabbitMQ
internal import Push

/// Header tables of unknown origin to values; never fails, leaves out what it cannot use.
enum HeaderReader {
    private static let foreignCount = 32
    private static let foreignBytes = 16 * 1024
    private static let depthLimit = 4
    private static let countLimit = 64
    private static let textLimit = 4096

    /// - Parameter readsAll: also keep everything for display.
    static func read(_ table: amqp_table_t, readsAll: Bool) -> DeliveryHeaders {
        var headers = DeliveryHeaders()
        var foreignBytes = 0
        for index in 0..<max(0, Int(table.num_entries)) {
            let key = table.entries[index].key
            let field = table.entries[index].value
            if key.hasPrefix("x-") {
                self.readKnown(key, field, into: &headers)
            } else if headers.foreign.count < self.foreignCount, let value = self.plain(field) {
                foreignBytes += key.len + field.size
                if foreignBytes <= self.foreignBytes { headers.foreign.append(Header(key.string, value)) }
            }
        }
        if readsAll { headers.all = self.entries(table, depth: 0) }
        return headers
    }

    private static func readKnown(
        _ key: amqp_bytes_t,
        _ field: amqp_field_value_t,
        into headers: inout DeliveryHeaders
    ) {
        if key.equals("x-pushfleet-attempt") {
            headers.attempt = Int(min(max(field.integer ?? 0, 0), 1_000_000))
        } else if key.equals("x-pushfleet-copy") {
            headers.copy = Int(min(max(field.integer ?? 0, 0), 1_000_000))
        } else if key.equals("x-pushfleet-first-seen") {
            headers.firstSeen = field.integer.flatMap { $0 >= 0 ? UnixTime(milliseconds: $0) : nil }
        } else if key.equals("x-delivery-count") {
            headers.deliveryCount = Int(min(max(field.integer ?? 0, 0), 1_000_000))
        } else if key.equals("x-pushfleet-reason") {
            headers.reason = field.text.map { self.cut($0) }
        } else if key.equals("x-pushfleet-once") {
            headers.once = field.text.map { self.cut($0) }
        } else if key.equals("x-pushfleet-schedule") {
            headers.schedule = field.text.map { self.cut($0) }
        } else if key.equals("x-pushfleet-replay") {
            headers.replay = field.text.map { self.cut($0) }
        } else if key.equals("x-pushfleet-unfinished") {
            headers.isUnfinished = UInt32(field.kind) == AMQP_FIELD_KIND_BOOLEAN.rawValue && field.value.boolean != 0
        } else if key.equals("x-first-death-reason"), let text = field.text {
            headers.firstDeathReason = self.deathReason(text)
        }
    }

    private static func deathReason(_ text: amqp_bytes_t) -> DeliveryHeaders.DeathReason {
        if text.equals("expired") { return .expired }
        if text.equals("rejected") { return .rejected }
        if text.equals("delivery_limit") { return .deliveryLimit }
        if text.equals("maxlen") { return .maxlen }
        return .other
    }

    /// Values without structure.
    private static func plain(_ field: amqp_field_value_t) -> HeaderValue? {
        switch self.value(field, depth: self.depthLimit) {
        case .unread: nil
        case let value: value
        }
    }

    private static func value(_ field: amqp_field_value_t, depth: Int) -> HeaderValue {
        if let integer = field.integer { return .integer(integer) }
        if let text = field.text { return depth < self.depthLimit ? .string(self.cut(text)) : .string(text.string) }
        switch UInt32(field.kind) {
        case AMQP_FIELD_KIND_BOOLEAN.rawValue: return .bool(field.value.boolean != 0)
        case AMQP_FIELD_KIND_F32.rawValue: return .double(Double(field.value.f32))
        case AMQP_FIELD_KIND_F64.rawValue: return .double(field.value.f64)
        case AMQP_FIELD_KIND_TIMESTAMP.rawValue:
            return .timestamp(UnixTime(seconds: Int64(clamping: field.value.u64)))
        case AMQP_FIELD_KIND_VOID.rawValue: return .none
        case AMQP_FIELD_KIND_TABLE.rawValue where depth < self.depthLimit:
            return .table(self.entries(field.value.table, depth: depth + 1))
        case AMQP_FIELD_KIND_ARRAY.rawValue where depth < self.depthLimit:
            let count = min(max(0, Int(field.value.array.num_entries)), self.countLimit)
            return .array((0..<count).map { self.value(field.value.array.entries[$0], depth: depth + 1) })
        default: return .unread
        }
    }

    private static func entries(_ table: amqp_table_t, depth: Int) -> [Header] {
        (0..<min(max(0, Int(table.num_entries)), self.countLimit)).map { index in
            Header(table.entries[index].key.string, self.value(table.entries[index].value, depth: depth))
        }
    }

    private static func cut(_ text: amqp_bytes_t) -> String {
        String(decoding: text.buffer.prefix(self.textLimit), as: UTF8.self)
    }
}

extension amqp_field_value_t {
    /// Any integer kind, clamped.
    var integer: Int64? {
        switch UInt32(self.kind) {
        case AMQP_FIELD_KIND_I8.rawValue: Int64(self.value.i8)
        case AMQP_FIELD_KIND_U8.rawValue: Int64(self.value.u8)
        case AMQP_FIELD_KIND_I16.rawValue: Int64(self.value.i16)
        case AMQP_FIELD_KIND_U16.rawValue: Int64(self.value.u16)
        case AMQP_FIELD_KIND_I32.rawValue: Int64(self.value.i32)
        case AMQP_FIELD_KIND_U32.rawValue: Int64(self.value.u32)
        case AMQP_FIELD_KIND_I64.rawValue: self.value.i64
        case AMQP_FIELD_KIND_U64.rawValue: Int64(clamping: self.value.u64)
        default: nil
        }
    }

    var text: amqp_bytes_t? {
        switch UInt32(self.kind) {
        case AMQP_FIELD_KIND_UTF8.rawValue, AMQP_FIELD_KIND_BYTES.rawValue: self.value.bytes
        default: nil
        }
    }

    /// About what it takes on the wire.
    fileprivate var size: Int { 16 + (self.text?.len ?? 0) }
}
