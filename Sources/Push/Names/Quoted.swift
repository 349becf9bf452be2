/// Text that came from outside, made fit for a log line, a header or a terminal.
package enum Quoted {
    /// The text in double quotes: printable ASCII as it is, everything else as `\u{…}`, cut after `limit` characters.
    ///
    /// A long run of hexadecimal digits may be a device token and is shown as one.
    package static func text(_ bytes: some Collection<UInt8>, limit: Int = 40) -> String {
        if bytes.count >= 16, bytes.allSatisfy({ Hex.value($0) != nil }) {
            return "\"\(DeviceToken.redacted(String(decoding: bytes, as: UTF8.self)))\""
        }
        var quoted = "\""
        var taken = 0
        // Four bytes per character are the most a character can need.
        for scalar in String(decoding: bytes.prefix(limit * 4), as: UTF8.self).unicodeScalars {
            guard taken < limit else {
                quoted += "..."
                break
            }
            taken += 1
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case " "..."~": quoted.unicodeScalars.append(scalar)
            default: quoted += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return quoted + "\""
    }
}
