internal import CRabbitMQ
internal import Push

/// Memory for what librabbitmq's encoders point to, while one method is built.
final class CodecArena {
    private let pool: UnsafeMutablePointer<amqp_pool_t>

    init() {
        self.pool = .allocate(capacity: 1)
        self.pool.initialize(to: amqp_pool_t())
        init_amqp_pool(self.pool, 16 * 1024)
    }

    deinit {
        empty_amqp_pool(self.pool)
        self.pool.deallocate()
    }

    /// Everything handed out becomes invalid.
    func recycle() {
        recycle_amqp_pool(self.pool)
    }

    func bytes(_ bytes: UnsafeRawBufferPointer) -> amqp_bytes_t {
        guard let source = bytes.baseAddress, bytes.count > 0 else { return amqp_bytes_t() }
        let target = self.allocate(bytes.count)
        target.copyMemory(from: source, byteCount: bytes.count)
        return amqp_bytes_t(len: bytes.count, bytes: target)
    }

    func bytes(_ bytes: [UInt8]) -> amqp_bytes_t {
        bytes.withUnsafeBytes { self.bytes($0) }
    }

    func string(_ string: String) -> amqp_bytes_t {
        var string = string
        return string.withUTF8 { self.bytes(UnsafeRawBufferPointer($0)) }
    }

    /// AMQP's short strings hold 255 bytes; a longer one would be cut into garbage by the encoder.
    func short(_ string: String) -> amqp_bytes_t {
        precondition(string.utf8.count <= 255, "an AMQP name is longer than 255 bytes")
        return self.string(string)
    }

    /// A number as decimal text, without a String.
    func decimal(_ number: UInt64) -> amqp_bytes_t {
        withUnsafeTemporaryAllocation(byteCount: 20, alignment: 1) { buffer in
            var rest = number
            var start = 20
            repeat {
                start -= 1
                buffer[start] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            } while rest > 0
            return self.bytes(UnsafeRawBufferPointer(rebasing: buffer[start...]))
        }
    }

    func table(_ headers: [Header]) -> amqp_table_t {
        guard !headers.isEmpty else { return amqp_table_t() }
        let size = headers.count * MemoryLayout<amqp_table_entry_t>.stride
        let entries = self.allocate(size).bindMemory(to: amqp_table_entry_t.self, capacity: headers.count)
        for (index, header) in headers.enumerated() {
            let entry = amqp_table_entry_t(key: self.short(header.name), value: self.field(header.value))
            (entries + index).initialize(to: entry)
        }
        return amqp_table_t(num_entries: Int32(headers.count), entries: entries)
    }

    private func field(_ value: HeaderValue) -> amqp_field_value_t {
        var field = amqp_field_value_t()
        switch value {
        case .string(let string):
            field.kind = UInt8(AMQP_FIELD_KIND_UTF8.rawValue)
            field.value.bytes = self.string(string)
        case .integer(let number):
            field.kind = UInt8(AMQP_FIELD_KIND_I64.rawValue)
            field.value.i64 = number
        case .bool(let bool):
            field.kind = UInt8(AMQP_FIELD_KIND_BOOLEAN.rawValue)
            field.value.boolean = bool ? 1 : 0
        case .double(let number):
            field.kind = UInt8(AMQP_FIELD_KIND_F64.rawValue)
            field.value.f64 = number
        case .timestamp(let time):
            field.kind = UInt8(AMQP_FIELD_KIND_TIMESTAMP.rawValue)
            field.value.u64 = UInt64(clamping: time.seconds)
        case .array(let values):
            field.kind = UInt8(AMQP_FIELD_KIND_ARRAY.rawValue)
            let size = max(1, values.count) * MemoryLayout<amqp_field_value_t>.stride
            let entries = self.allocate(size).bindMemory(to: amqp_field_value_t.self, capacity: values.count)
            for (index, value) in values.enumerated() { (entries + index).initialize(to: self.field(value)) }
            field.value.array = amqp_array_t(num_entries: Int32(values.count), entries: entries)
        case .table(let headers):
            field.kind = UInt8(AMQP_FIELD_KIND_TABLE.rawValue)
            field.value.table = self.table(headers)
        case .none, .unread:
            field.kind = UInt8(AMQP_FIELD_KIND_VOID.rawValue)
        }
        return field
    }

    private func allocate(_ count: Int) -> UnsafeMutableRawPointer {
        guard let memory = amqp_pool_alloc(self.pool, count) else { preconditionFailure("out of memory") }
        return memory
    }
}
