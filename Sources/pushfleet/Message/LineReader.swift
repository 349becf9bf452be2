internal import Foundation

/// Lines of bytes from a file descriptor, whatever they hold: input for tests need not be UTF-8.
struct LineReader {
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var position = 0
    private var isAtEnd = false

    init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// The next line without its line feed; nil at the end. The last line may lack its line feed.
    mutating func next() -> [UInt8]? {
        var searched = self.position
        while true {
            if let end = self.buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { self.position = end + 1 }
                return Array(self.buffer[self.position..<end])
            }
            searched = self.buffer.count
            guard !self.isAtEnd else {
                defer { self.position = self.buffer.count }
                return self.position < self.buffer.count ? Array(self.buffer[self.position...]) : nil
            }
            searched -= self.position
            self.buffer.removeFirst(self.position)
            self.position = 0
            self.fill()
        }
    }

    /// Up to `limit` lines; empty at the end.
    mutating func next(upTo limit: Int) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        while lines.count < limit, let line = self.next() { lines.append(line) }
        return lines
    }

    private mutating func fill() {
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = read(self.descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                self.isAtEnd = true
                return
            }
            return self.buffer.append(contentsOf: chunk[..<count])
        }
    }
}
