/// What an answer consists of, before it is written down as XML or JSON.
indirect enum Document: Sendable {
    case text(String)
    case structure([(name: String, value: Document)])
    case list([Document])
    case map([String: String])

    static let xmlns = "http://sns.amazonaws.com/doc/2010-03-31/"

    /// The whole as XML. An empty list, map or structure is an empty element: SDKs want it to be there.
    func xml(root: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(512)
        bytes += "<\(root) xmlns=\"\(Self.xmlns)\">".utf8
        self.writeXML(to: &bytes)
        bytes += "</\(root)>\n".utf8
        return bytes
    }

    private func writeXML(to bytes: inout [UInt8]) {
        switch self {
        case .text(let text): Self.escape(text, to: &bytes)
        case .structure(let members):
            for (name, value) in members { value.element(name, to: &bytes) }
        case .list(let members):
            for member in members { member.element("member", to: &bytes) }
        case .map(let map):
            for (key, value) in map.sorted(by: { $0.key < $1.key }) {
                bytes += "<entry>".utf8
                Document.text(key).element("key", to: &bytes)
                Document.text(value).element("value", to: &bytes)
                bytes += "</entry>".utf8
            }
        }
    }

    private func element(_ name: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "<"))
        bytes += name.utf8
        guard !self.isEmpty else {
            bytes += "/>".utf8
            return
        }
        bytes.append(UInt8(ascii: ">"))
        self.writeXML(to: &bytes)
        bytes += "</".utf8
        bytes += name.utf8
        bytes.append(UInt8(ascii: ">"))
    }

    private var isEmpty: Bool {
        switch self {
        case .text(let text): text.isEmpty
        case .structure(let members): members.isEmpty
        case .list(let members): members.isEmpty
        case .map(let map): map.isEmpty
        }
    }

    /// XML 1.0 §2.4. A carriage return would be read as a line feed (§2.11), and what no document can carry (§2.2) becomes
    /// U+FFFD.
    private static func escape(_ text: String, to bytes: inout [UInt8]) {
        guard !text.isBeyondXML else {
            return Self.escape(
                String(String.UnicodeScalarView(text.unicodeScalars.map { String($0).isBeyondXML ? "\u{FFFD}" : $0 })),
                to: &bytes
            )
        }
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): bytes += "&amp;".utf8
            case UInt8(ascii: "<"): bytes += "&lt;".utf8
            case UInt8(ascii: ">"): bytes += "&gt;".utf8
            case 0x0D: bytes += "&#xD;".utf8
            default: bytes.append(byte)
            }
        }
    }

    /// The same as JSON, as clients of the old parameter `ContentType=JSON` read it.
    func writeJSON(to bytes: inout [UInt8]) {
        switch self {
        case .text(let text): JSONText.append(text, to: &bytes)
        case .structure(let members):
            Self.braces("{", members, "}", to: &bytes) { (member, bytes) in
                JSONText.append(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.writeJSON(to: &bytes)
            }
        case .list(let members):
            Self.braces("[", members, "]", to: &bytes) { (member, bytes) in member.writeJSON(to: &bytes) }
        case .map(let map):
            Self.braces("{", map.sorted { $0.key < $1.key }, "}", to: &bytes) { (entry, bytes) in
                JSONText.append(entry.key, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                JSONText.append(entry.value, to: &bytes)
            }
        }
    }

    private static func braces<Member>(
        _ open: Unicode.Scalar,
        _ members: [Member],
        _ close: Unicode.Scalar,
        to bytes: inout [UInt8],
        _ write: (Member, inout [UInt8]) -> Void
    ) {
        bytes.append(UInt8(ascii: open))
        for (index, member) in members.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            write(member, &bytes)
        }
        bytes.append(UInt8(ascii: close))
    }
}
