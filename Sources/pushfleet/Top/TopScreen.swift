internal import Foundation
internal import Synchronization

/// A terminal's second page, which leaves the first one as it was; or plain lines where there is no terminal.
final class TopScreen: Sendable {
    /// Whether what is shown takes the place of what was shown.
    let isTerminal: Bool
    private let isOpen = Mutex(false)

    init(isTerminal: Bool = isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb") {
        self.isTerminal = isTerminal
    }

    /// Characters and lines; as wide as a line may be, and without an end, if there is no terminal.
    var size: (width: Int, height: Int?) {
        guard self.isTerminal else { return (200, nil) }
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    func open() {
        self.isOpen.withLock { isOpen in
            isOpen = true
            if self.isTerminal { Self.write(Self.enter) }
        }
    }

    /// Shows lines, unless it is closed: nobody draws on the first page.
    func show(_ lines: [String]) {
        self.isOpen.withLock { isOpen in
            guard isOpen else { return }
            Self.write(self.isTerminal ? Self.frame(lines) : lines.joined(separator: "\n") + "\n\n")
        }
    }

    func close() {
        self.isOpen.withLock { isOpen in
            guard isOpen else { return }
            isOpen = false
            if self.isTerminal { Self.write(Self.leave) }
        }
    }

    // MARK: Control sequences of xterm, which all terminals have

    /// The second page, without a cursor.
    static let enter = "\u{1B}[?1049h\u{1B}[?25l"
    static let leave = "\u{1B}[?25h\u{1B}[?1049l"

    /// All lines over what stood there; the last one without a line end, which would roll the page.
    static func frame(_ lines: [String]) -> String {
        "\u{1B}[H" + lines.map { "\($0)\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J"
    }

    private static func write(_ text: String) {
        FileHandle.standardOutput.write(Data(text.utf8))
    }
}
