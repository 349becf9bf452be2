internal import Glibc

/// Which fields a response may have (RFC 9113 §8.2).
enum FieldRules {
    /// A token in lower case.
    static func isName(_ name: UnsafeRawBufferPointer) -> Bool {
        guard !name.isEmpty else { return false }
        return name.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
            case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "!"), UInt8(ascii: "~"): true
            case UInt8(ascii: "#")...UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"): true
            case UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "|"): true
            default: false
            }
        }
    }

    /// No control characters but the tabulator.
    static func isValue(_ value: UnsafeRawBufferPointer) -> Bool {
        value.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 9 }
    }

    /// Fields of HTTP/1.1 that speak of a connection.
    static func belongsToConnection(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
        switch name.count {
        case 2: self.are(name, "te") && !self.are(value, "trailers")
        case 7: self.are(name, "upgrade")
        case 10: self.are(name, "connection") || self.are(name, "keep-alive")
        case 16: self.are(name, "proxy-connection")
        case 17: self.are(name, "transfer-encoding")
        default: false
        }
    }

    static func isStatus(_ name: UnsafeRawBufferPointer) -> Bool { self.are(name, ":status") }

    static func isContentLength(_ name: UnsafeRawBufferPointer) -> Bool { self.are(name, "content-length") }

    static func are(_ bytes: UnsafeRawBufferPointer, _ text: StaticString) -> Bool {
        guard let start = bytes.baseAddress, bytes.count == text.utf8CodeUnitCount else { return false }
        return memcmp(start, text.utf8Start, bytes.count) == 0
    }
}
