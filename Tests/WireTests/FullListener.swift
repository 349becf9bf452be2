import Glibc

/// A port whose accept queue is full: the kernel drops further connection requests without a word.
final class FullListener {
    let port: UInt16
    private var descriptors: [Int32] = []

    init() throws {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue)
        let listener = socket(AF_INET, kind, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        self.port = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = bind(listener, address, size)
                _ = listen(listener, 0)
                _ = getsockname(listener, address, &size)
            }
            return UInt16(bigEndian: pointer.pointee.sin_port)
        }
        self.descriptors = [listener]
        for _ in 0..<4 {
            let filler = socket(AF_INET, kind, 0)
            withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = connect(filler, $0, size) }
            }
            self.descriptors.append(filler)
        }
    }

    deinit {
        for descriptor in self.descriptors { close(descriptor) }
    }
}
