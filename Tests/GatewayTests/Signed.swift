import Crypto
import Foundation

@testable import Gateway

extension TestGateway {
    /// One call without parameters, signed as SDKs do: AWS Signature Version 4.
    func signed(_ action: String, key: AccessKeySettings) async throws -> Answer {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "yyyyMMdd'T'HHmmss'Z'"
        let moment = formatter.string(from: Date())
        let scope = [String(moment.prefix(8)), "eu-west-1", "sns", "aws4_request"]
        let body = Self.hex(SHA256.hash(data: Data("Action=\(action)&Version=2010-03-31".utf8)))
        let host = "127.0.0.1:\(self.gateway.port)"
        let canonical = "POST\n/\n\nhost:\(host)\nx-amz-date:\(moment)\n\nhost;x-amz-date\n\(body)"
        let hash = Self.hex(SHA256.hash(data: Data(canonical.utf8)))
        let path = scope.joined(separator: "/")
        let text = "AWS4-HMAC-SHA256\n\(moment)\n\(path)\n\(hash)"
        var derived = Data("AWS4\(key.secret)".utf8)
        for part in scope + [text] {
            derived = Data(HMAC<SHA256>.authenticationCode(for: Data(part.utf8), using: SymmetricKey(data: derived)))
        }
        let authorization =
            "AWS4-HMAC-SHA256 Credential=\(key.id)/\(path), SignedHeaders=host;x-amz-date, Signature=\(Self.hex(derived))"
        return try await self.call(action, headers: ["X-Amz-Date": moment, "Authorization": authorization])
    }

    private static func hex(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0\(digits)" : digits
        }.joined()
    }
}
