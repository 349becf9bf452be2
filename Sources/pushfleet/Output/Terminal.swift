internal import Foundation

/// Where a verb's words go: data to standard output, talk to standard error.
enum Terminal {
    /// One line of data.
    static func print(_ line: String = "") {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    static func print(_ lines: [String]) {
        guard !lines.isEmpty else { return }
        Self.print(lines.joined(separator: "\n"))
    }

    /// One line to the person at the terminal, after the program's name.
    static func say(_ line: String) {
        FileHandle.standardError.write(Data("pushfleet: \(line)\n".utf8))
    }

    /// Data for programs: one JSON object, keys in order and in snake case; those of dictionaries as they are.
    static func print(json value: some Encodable) throws {
        Self.print(String(decoding: try Self.encode(value), as: UTF8.self))
    }

    static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return try encoder.encode(value)
    }

    /// Lines broken between words so that they fit, all indented.
    static func wrapped(_ text: String, indent: Int, width: Int = 100) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, indent + line.count + 1 + word.count > width {
                lines.append(line)
                line = ""
            }
            line += line.isEmpty ? String(word) : " \(word)"
        }
        lines.append(line)
        return lines.map { String(repeating: " ", count: indent) + $0 }
    }
}
