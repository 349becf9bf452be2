internal import Push

extension String {
    /// For use between quotes in JSON (RFC 8259 §7).
    var jsonEscaped: String {
        guard self.utf8.contains(where: { $0 < 0x20 || $0 == 0x22 || $0 == 0x5c }) else { return self }
        return self.unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar.value {
            case 0x22, 0x5c: text += "\\\(scalar)"
            case ..<0x20: text += "\\u00" + Hex.encode([UInt8(scalar.value)])
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}
