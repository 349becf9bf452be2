internal import Foundation

/// Decides when a file has changed and is whole: when a second look finds the same as the first.
struct FileWatch: Equatable {
    /// What was acted on; nil for a file that is not there.
    private var handled: [UInt8]?
    private var last: [UInt8]?

    init(inUse content: [UInt8]?) {
        self.handled = content
        self.last = content
    }

    /// What is in a file now; nil if it is not there or cannot be read.
    static func content(of file: String) -> [UInt8]? { FileManager.default.contents(atPath: file).map { [UInt8]($0) } }

    /// Takes what a look has found.
    /// - Returns: whether it is to be acted on; once for each change.
    mutating func looked(_ content: [UInt8]?) -> Bool {
        defer { self.last = content }
        guard content == self.last, content != self.handled else { return false }
        self.handled = content
        return true
    }
}
