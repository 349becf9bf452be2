internal import CLinux
internal import Glibc
internal import Synchronization

/// What other threads want a loop to do, and the descriptor that wakes it.
final class Mailbox: Sendable {
    let descriptor: Int32
    private let letters = Mutex<[@Sendable () -> Void]>([])

    init() throws(LoopError) {
        self.descriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        guard self.descriptor >= 0 else { throw LoopError("eventfd") }
    }

    deinit {
        close(self.descriptor)
    }

    /// Only the first letter of a batch pays for the wake-up.
    func post(_ letter: @escaping @Sendable () -> Void) {
        let isFirst = self.letters.withLock { letters in
            letters.append(letter)
            return letters.count == 1
        }
        if isFirst { eventfd_write(self.descriptor, 1) }
    }

    func drain() {
        var count: eventfd_t = 0
        eventfd_read(self.descriptor, &count)
        let letters = self.letters.withLock { letters in
            defer { letters = [] }
            return letters
        }
        for letter in letters { letter() }
    }
}

/// A loop as other threads see it: they may ask it to run something, in order, and wait for nothing.
package struct RemoteLoop: Sendable {
    let mailbox: Mailbox

    /// Runs `body` on the loop's thread in its next turn. Dropped when the loop has stopped.
    package func post(_ body: @escaping @Sendable () -> Void) {
        self.mailbox.post(body)
    }
}
