/// A frame as it goes over the wire, for peers that do not go through a library.
func frame(_ type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
    let size = payload.count
    let id = [UInt8(stream >> 24), UInt8(stream >> 16 & 255), UInt8(stream >> 8 & 255), UInt8(stream & 255)]
    return [UInt8(size >> 16), UInt8(size >> 8 & 255), UInt8(size & 255), type, flags] + id + payload
}

func many(_ frame: [UInt8], _ count: Int = 500) -> [UInt8] {
    Array((0..<count).map { _ in frame }.joined())
}

/// A literal header field without indexing.
func field(_ name: String, _ value: String) -> [UInt8] {
    [0, UInt8(name.utf8.count)] + Array(name.utf8) + [UInt8(value.utf8.count)] + Array(value.utf8)
}
