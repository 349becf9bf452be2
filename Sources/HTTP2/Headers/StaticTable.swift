internal import Glibc

/// HPACK's static table (RFC 7541, appendix A), as far as requests and plain answers can use it: names in the order of
/// their indices, and the values that some of them have.
enum StaticTable {
    /// The index of the first entry of the dynamic table.
    static let count = 62

    /// The indices at which a name stands; empty if it does not.
    static func entries(named name: StaticString) -> Range<UInt8> {
        guard let first = self.names.firstIndex(where: { self.areEqual($0, name) }) else { return 0..<0 }
        let last = self.names[first...].lastIndex { self.areEqual($0, name) } ?? first
        return UInt8(first + 1)..<UInt8(last + 2)
    }

    /// The one of `indices` that has the given value; nil if none has. Only names that stand there more than
    /// once have values, but for one, and requests use those of entries 2 … 7.
    static func entry(among indices: Range<UInt8>, with value: UnsafePointer<UInt8>, _ size: Int) -> Int? {
        guard indices.lowerBound > 1, indices.upperBound <= 8 else { return nil }
        for index in indices {
            guard let known = self.value(index), known.utf8CodeUnitCount == size else { continue }
            if memcmp(known.utf8Start, value, size) == 0 { return Int(index) }
        }
        return nil
    }

    private static func value(_ index: UInt8) -> StaticString? {
        switch index {
        case 2: "GET"
        case 3: "POST"
        case 4: "/"
        case 5: "/index.html"
        case 6: "http"
        case 7: "https"
        default: nil
        }
    }

    private static func areEqual(_ left: StaticString, _ right: StaticString) -> Bool {
        left.utf8CodeUnitCount == right.utf8CodeUnitCount
            && memcmp(left.utf8Start, right.utf8Start, left.utf8CodeUnitCount) == 0
    }

    private static let names: [StaticString] = [
        ":authority", ":method", ":method", ":path", ":path", ":scheme", ":scheme", ":status", ":status", ":status",
        ":status", ":status", ":status", ":status", "accept-charset", "accept-encoding", "accept-language",
        "accept-ranges", "accept", "access-control-allow-origin", "age", "allow", "authorization", "cache-control",
        "content-disposition", "content-encoding", "content-language", "content-length", "content-location",
        "content-range", "content-type", "cookie", "date", "etag", "expect", "expires", "from", "host", "if-match",
        "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "last-modified", "link", "location",
        "max-forwards", "proxy-authenticate", "proxy-authorization", "range", "referer", "refresh", "retry-after",
        "server", "set-cookie", "strict-transport-security", "transfer-encoding", "user-agent", "vary", "via",
        "www-authenticate",
    ]
}
