import Crypto
import Foundation
import TestServers
import Testing

/// Signs as an SDK does, and sends over a socket of its own what no HTTP client would. Written from AWS' "Create a signed
/// AWS API request", apart from the gateway's own check.
struct SignedRequests {
    static let keyID = "AKIATEST"
    static let secret = "a secret/access+key"

    let port: Int
    var keyID = Self.keyID
    var secret = Self.secret
    var region = "eu-west-1"
    var service = "sns"
    var time = Date()

    struct Answer {
        let status: Int
        let text: String

        func element(_ name: String) -> String? {
            guard let start = self.text.range(of: "<\(name)>"), let end = self.text.range(of: "</\(name)>") else {
                return nil
            }
            return String(self.text[start.upperBound..<end.lowerBound])
        }
    }

    /// - Parameters:
    ///   - sent: the body that goes out, if it is not the one that was signed.
    ///   - change: of the `Authorization` header.
    func send(_ body: [UInt8], sent: [UInt8]? = nil, _ change: (String) -> String = { $0 }) async throws -> Answer {
        let host = "127.0.0.1:\(self.port)"
        let type = "application/x-www-form-urlencoded; charset=utf-8"
        let date = Self.date(self.time)
        let day = date.prefix(8)
        let names = "content-type;host;x-amz-date"
        let canonical =
            "POST\n/\n\ncontent-type:\(type)\nhost:\(host)\nx-amz-date:\(date)\n\n\(names)\n\(Self.hex(SHA256.hash(data: body)))"
        let scope = "\(day)/\(self.region)/\(self.service)/aws4_request"
        let text = "AWS4-HMAC-SHA256\n\(date)\n\(scope)\n\(Self.hex(SHA256.hash(data: Data(canonical.utf8))))"
        var key = Data("AWS4\(self.secret)".utf8)
        for part in [String(day), self.region, self.service, "aws4_request"] { key = Self.mac(key, part) }
        let authorization = change(
            "AWS4-HMAC-SHA256 Credential=\(self.keyID)/\(scope), SignedHeaders=\(names), Signature=\(Self.hex(Self.mac(key, text)))"
        )
        let content = sent ?? body
        let head =
            "POST / HTTP/1.1\r\nHost: \(host)\r\nContent-Type: \(type)\r\nX-Amz-Date: \(date)\r\n"
            + "Authorization: \(authorization)\r\nContent-Length: \(content.count)\r\nConnection: close\r\n\r\n"
        return try await self.exchange(Array(head.utf8) + content)
    }

    /// Sends bytes as they are. Waits on a thread of its own: the gateway in this process needs the others.
    func exchange(_ bytes: [UInt8]) async throws -> Answer {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try self.wait(bytes) }) }
        }
    }

    private func wait(_ bytes: [UInt8]) throws -> Answer {
        guard let socket = LoopbackSocket.connected(to: self.port) else {
            throw NeverHappened(description: "connected")
        }
        var rest = bytes[...]
        while !rest.isEmpty {
            if let count = socket.write(rest), count > 0 {
                rest = rest.dropFirst(count)
            } else if !socket.wait(Int32(POLLOUT), .seconds(30)) {
                break
            }
        }
        var answer: [UInt8] = []
        reading: while socket.wait(Int32(POLLIN), .seconds(30)) {
            switch socket.read() {
            case .bytes(let bytes): answer += bytes
            case .nothing: continue
            case .end, .failure: break reading
            }
        }
        let text = String(decoding: answer, as: UTF8.self)
        return Answer(status: Int(text.dropFirst(9).prefix(3)) ?? 0, text: text)
    }

    static func form(_ parameters: [(String, String)]) -> [UInt8] {
        var allowed = CharacterSet.alphanumerics
        allowed.insert(charactersIn: "-._~")
        let pairs = parameters.map { "\($0)=\($1.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")" }
        return Array(pairs.joined(separator: "&").utf8)
    }

    private static func mac(_ key: Data, _ text: String) -> Data {
        Data(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: SymmetricKey(data: key)))
    }

    private static func hex(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func date(_ time: Date) -> String {
        let parts = Calendar(identifier: .iso8601).dateComponents(in: TimeZone(secondsFromGMT: 0)!, from: time)
        func two(_ number: Int?) -> String { (number ?? 0) < 10 ? "0\(number ?? 0)" : "\(number ?? 0)" }
        return "\(parts.year ?? 0)\(two(parts.month))\(two(parts.day))T\(two(parts.hour))\(two(parts.minute))"
            + "\(two(parts.second))Z"
    }
}
