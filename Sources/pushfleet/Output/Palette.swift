internal import Foundation

/// Colours for a terminal, or none.
struct Palette: Sendable {
    enum Colour: Int {
        case red = 31
        case green = 32
        case yellow = 33
    }

    let isColourful: Bool

    /// Colours only on a terminal, and never if `NO_COLOR` holds anything (no-color.org) or the terminal is dumb.
    static func standardOutput(environment: [String: String] = ProcessInfo.processInfo.environment) -> Palette {
        Palette(isColourful: isatty(STDOUT_FILENO) == 1 && Self.allows(environment))
    }

    static func allows(_ environment: [String: String]) -> Bool {
        (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }

    func paint(_ text: String, _ colour: Colour) -> String {
        self.isColourful ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
    }
}
