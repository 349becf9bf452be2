internal import Push

/// What `pushfleet lint` found.
struct LintReport: Encodable, Equatable {
    struct Payload: Encodable, Equatable {
        let file: String
        let pushType: String
        let bytes: Int
        let findings: [Finding]
    }

    struct Finding: Encodable, Equatable {
        /// The key at fault: `payload.aps.alert.titel`.
        let path: String
        /// What is wrong, and the fix.
        let detail: String
    }

    private(set) var payloads: [Payload] = []
    /// In all payloads together.
    private(set) var findings = 0

    mutating func add(_ file: String, _ bytes: [UInt8], _ type: PushType, isBroadcast: Bool) {
        let payload = Self.trimmed(bytes)
        let found = payload.withUnsafeBytes { PayloadLint.findings(in: $0, type: type, isBroadcast: isBroadcast) }
        self.findings += found.count
        self.payloads.append(
            Payload(
                file: file,
                pushType: type.rawValue,
                bytes: payload.count,
                findings: found.map { Finding(path: $0.path, detail: $0.detail) }
            )
        )
    }

    /// White space around a payload is the file's, and is not sent.
    private static func trimmed(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }
        guard let first = bytes.firstIndex(where: { !isSpace($0) }) else { return [] }
        return bytes[first...bytes.lastIndex { !isSpace($0) }!]
    }

    func lines() -> [String] {
        let lines = self.payloads.flatMap { payload in
            payload.findings.map { "\(payload.file): \($0.path): \($0.detail)" }
        }
        let count = self.payloads.count
        return lines.isEmpty ? ["\(count) payload\(count == 1 ? "" : "s"), no findings"] : lines
    }
}
