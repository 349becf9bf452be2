internal import CLinux
internal import Glibc
internal import Synchronization

/// What other threads want a loop to do, and the descriptor that wakes it.
final class Mailbox: Sendable {
    let descriptor: Int32
    private let box = Mutex(Box())

    private struct Box {
        var letters: [@Sendable () -> Void] = []
        /// Whether the loop waits, or is about to, and nobody has woken it yet.
        var needsWaking = false
    }

    init() throws(LoopError) {
        self.descriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        guard self.descriptor >= 0 else { throw LoopError("eventfd") }
    }

    deinit {
        close(self.descriptor)
    }

    /// Only who finds the loop asleep, and is the first to, pays for waking it.
    func post(_ letter: @escaping @Sendable () -> Void) {
        let wakes = self.box.withLock { box in
            box.letters.append(letter)
            defer { box.needsWaking = false }
            return box.needsWaking
        }
        if wakes { eventfd_write(self.descriptor, 1) }
    }

    /// Whether the loop may wait: from now on it is woken. False if there are letters already.
    func maySleep() -> Bool {
        self.box.withLock { box in
            box.needsWaking = box.letters.isEmpty
            return box.needsWaking
        }
    }

    /// Reads the letters of the loop that is awake again.
    func drain() {
        let letters = self.box.withLock { box in
            box.needsWaking = false
            defer { box.letters = [] }
            return box.letters
        }
        for letter in letters { letter() }
    }
}

/// A loop as other threads see it: they may ask it to run something, in order, and wait for nothing.
package struct RemoteLoop: Sendable {
    let mailbox: Mailbox

    /// Runs `body` on the loop's thread, in this turn or the next. Dropped when the loop has stopped.
    package func post(_ body: @escaping @Sendable () -> Void) {
        self.mailbox.post(body)
    }
}
