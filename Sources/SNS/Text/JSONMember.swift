/// A JSON value that is to be written, with its members in their order.
indirect enum JSONMember {
    case text(String)
    case number(Int)
    case object([(name: String, value: JSONMember)])

    var text: String {
        var bytes: [UInt8] = []
        self.write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func write(to bytes: inout [UInt8]) {
        switch self {
        case .text(let text): JSONText.append(text, to: &bytes)
        case .number(let number): bytes += "\(number)".utf8
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                JSONText.append(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }
}
