import Crypto
import Foundation
import Push

@testable import Simulator

/// A request in the making: good unless a test changes something.
struct PushDraft {
    var method = "POST"
    var path = "/3/device/" + String(repeating: "a1", count: 32)
    var headers: [(name: String, value: String)] = []
    var body = Array(#"{"aps":{"alert":"Hello"}}"#.utf8)

    /// A good push, signed by `key`.
    init(_ key: TestKey = .shared, topic: String = "com.example.shop", issuedAt: Int64 = TestKey.now.seconds) {
        self.headers = [
            ("authorization", "bearer " + key.token(issuedAt: issuedAt)), ("apns-topic", topic),
            ("apns-push-type", "alert"), ("apns-priority", "10"),
        ]
    }

    mutating func set(_ name: String, _ value: String?) {
        self.headers.removeAll { $0.name == name }
        if let value { self.headers.append((name, value)) }
    }

    func with(_ name: String, _ value: String?) -> PushDraft {
        var draft = self
        draft.set(name, value)
        return draft
    }

    func to(_ token: String) -> PushDraft {
        var draft = self
        draft.path = "/3/device/" + token
        return draft
    }

    var request: PushRequest {
        var head = Array(self.method.utf8).withUnsafeBytes { method in
            Array(self.path.utf8).withUnsafeBytes { RequestHead(method: method, path: $0) }
        }
        for (name, value) in self.headers {
            Array(name.utf8).withUnsafeBytes { name in
                Array(value.utf8).withUnsafeBytes { head.add(name: name, value: $0) }
            }
        }
        return PushRequest(head: head, body: self.body, bodySize: self.body.count)
    }
}

/// A provider's key with both halves.
struct TestKey: Sendable {
    static let now = UnixTime(seconds: 1_700_000_000)
    static let shared = TestKey(id: "KEY1234567", team: "TEAM123456")

    let id: String
    let team: String
    let secret = P256.Signing.PrivateKey()
    private let known = TokenCache()

    init(id: String, team: String) {
        self.id = id
        self.team = team
    }

    var key: ProviderKey {
        ProviderKey(id: self.id, team: self.team, pem: self.secret.publicKey.pemRepresentation)
    }

    /// The same token for the same time, as a sender would keep it.
    func token(issuedAt: Int64) -> String {
        self.known.token(issuedAt) {
            self.token(
                header: #"{"alg":"ES256","kid":"\#(self.id)"}"#,
                claims: #"{"iss":"\#(self.team)","iat":\#(issuedAt)}"#
            )
        }
    }

    func token(header: String, claims: String) -> String {
        let signed = Self.encode(Data(header.utf8)) + "." + Self.encode(Data(claims.utf8))
        let signature = try! self.secret.signature(for: Data(signed.utf8))
        return signed + "." + Self.encode(signature.rawRepresentation)
    }

    static func encode(_ data: Data) -> String {
        data.base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }
}

/// ECDSA signatures differ each time, so tokens are kept.
final class TokenCache: Sendable {
    private let tokens = Locked<[Int64: String]>([:])

    func token(_ issuedAt: Int64, _ make: () -> String) -> String {
        self.tokens.withLock { tokens in
            if let known = tokens[issuedAt] { return known }
            let token = make()
            tokens[issuedAt] = token
            return token
        }
    }
}

/// A lock around a value, for a struct that must be copyable.
final class Locked<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) {
        self.value = value
    }

    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        self.lock.lock()
        defer { self.lock.unlock() }
        return body(&self.value)
    }
}
