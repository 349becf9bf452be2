internal import CRabbitMQ
internal import Glibc

/// The last string seen: a queue's messages mostly carry the same names, so most need no new String.
struct Interner {
    private var bytes: [UInt8] = []
    private var last = ""

    mutating func string(_ new: amqp_bytes_t) -> String {
        let isSame = self.bytes.withUnsafeBytes { old in
            old.count == new.len && (new.len == 0 || memcmp(old.baseAddress!, new.bytes, new.len) == 0)
        }
        if isSame { return self.last }
        self.bytes = new.array
        self.last = String(decoding: self.bytes, as: UTF8.self)
        return self.last
    }
}

extension amqp_bytes_t {
    var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: self.bytes, count: self.len) }
    var array: [UInt8] { Array(self.buffer) }
    var string: String { String(decoding: self.buffer, as: UTF8.self) }

    func equals(_ text: StaticString) -> Bool {
        self.len == text.utf8CodeUnitCount && memcmp(self.bytes, text.utf8Start, self.len) == 0
    }

    func hasPrefix(_ text: StaticString) -> Bool {
        self.len >= text.utf8CodeUnitCount && memcmp(self.bytes, text.utf8Start, text.utf8CodeUnitCount) == 0
    }
}
