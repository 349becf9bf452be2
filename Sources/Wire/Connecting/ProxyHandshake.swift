/// Asks a proxy for a tunnel, as a value: bytes go in, what to do comes out (RFC 9110 §9.3.6, RFC 9112 §4).
struct ProxyHandshake {
    enum Outcome: Equatable {
        case needsMore
        /// From here on the bytes are the other end's.
        case open
        case refused(TransportError)
    }

    /// What to send.
    let request: [UInt8]
    private let target: Endpoint
    private var answer: [UInt8] = []

    init(to target: Endpoint, through proxy: Proxy) {
        self.target = target
        var lines = ["CONNECT \(target) HTTP/1.1", "Host: \(target)"]
        if let authorization = proxy.authorization { lines.append("Proxy-Authorization: \(authorization)") }
        self.request = Array((lines + ["", ""]).joined(separator: "\r\n").utf8)
    }

    /// Takes in what has come.
    /// - Returns: how many of the bytes belong to the proxy's answer, and what it says.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) -> (consumed: Int, outcome: Outcome) {
        for (index, byte) in bytes.enumerated() {
            self.answer.append(byte)
            if self.answer.count <= Self.start.count, byte != Self.start[self.answer.count - 1] {
                return (index + 1, .refused(.proxy("it does not speak HTTP")))
            }
            if byte == UInt8(ascii: "\n"), self.isComplete { return (index + 1, self.verdict) }
            guard self.answer.count < Self.limit else {
                return (index + 1, .refused(.proxy("its answer is longer than 16 KiB")))
            }
        }
        return (bytes.count, .needsMore)
    }

    private var isComplete: Bool {
        self.answer.suffix(4).elementsEqual("\r\n\r\n".utf8) || self.answer.suffix(2).elementsEqual("\n\n".utf8)
    }

    private var verdict: Outcome {
        let line = self.answer.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
        let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard words.count >= 2, words[1].count == 3, let status = Int(String(decoding: words[1], as: UTF8.self)) else {
            return .refused(.proxy("its answer has no status"))
        }
        switch status {
        case 200...299: return .open
        case 407: return .refused(.proxy("it wants a user and password that it knows (407)"))
        case 403: return .refused(.proxy("it forbids \(self.target) (403)"))
        default:
            let said = words.count > 2 ? words[2].prefix(80).filter { $0 >= 0x20 && $0 < 0x7f } : []
            let text = said.isEmpty ? "" : " \(String(decoding: said, as: UTF8.self))"
            return .refused(.proxy("it answered \(status)\(text) for \(self.target)"))
        }
    }

    private static let start = Array("HTTP/1.".utf8)
    private static let limit = 16 * 1024
}
