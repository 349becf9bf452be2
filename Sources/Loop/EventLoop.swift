internal import CLinux
internal import Glibc
package import Push
internal import Synchronization

/// One thread's sockets, deadlines and wake-ups, and nothing else.
///
/// Everything that lives on a loop is created on its thread, is touched only there, and needs no lock. A turn is: wait
/// for readiness, call the handlers, run what other threads posted, fire due deadlines, then let everyone who asked
/// write out what the turn has gathered. Other threads reach it through ``remote`` only.
package final class EventLoop {
    /// The time at which this turn began; rules that ran in one turn saw one time.
    package private(set) var now: MonotonicTime

    /// The wall clock at which this turn began.
    package private(set) var wallTime: UnixTime

    /// Memory that anyone on this loop may use within one call, for instance to read from a socket.
    package let scratch: UnsafeMutableRawBufferPointer

    /// The least time from the beginning of a turn to that of the next; zero at first.
    ///
    /// What arrives meanwhile shares one turn, its reads and its writes, which cost most of a turn. After a pause longer than
    /// this nothing waits; under load every step of a message's way may take this much longer.
    package var linger: Duration = .zero

    private let poller: Poller
    private let mailbox: Mailbox
    private var watches: [Watch?] = []
    private var freeSlots: [Int] = []
    private var deadlines = DeadlineHeap()
    private var turnEnds: [any TurnEndHandler] = []
    private var isRunning = false
    private let thread: pthread_t

    /// Creates the loop of the calling thread, which must be the one that later calls `run`.
    /// - Throws: when the system refuses a file descriptor.
    package init() throws(LoopError) {
        self.poller = try Poller()
        self.mailbox = try Mailbox()
        self.scratch = .allocate(byteCount: 256 * 1024, alignment: 64)
        self.now = MonotonicClock.now()
        self.wallTime = WallClock.now()
        self.thread = pthread_self()
        try self.poller.addBell(self.mailbox.descriptor, token: Self.mailboxToken)
        Self.blockSIGPIPE()
    }

    /// OpenSSL and other C libraries write with write(2): on a connection that the peer has reset, that raises SIGPIPE
    /// in the writing thread, which would end the process. Blocked, the write only fails with EPIPE.
    private static func blockSIGPIPE() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    deinit {
        self.scratch.deallocate()
    }

    /// Whether the caller runs on this loop's thread.
    package var isCurrent: Bool { pthread_equal(self.thread, pthread_self()) != 0 }

    /// A handle through which other threads reach this loop.
    package var remote: RemoteLoop { RemoteLoop(mailbox: self.mailbox) }

    // MARK: Readiness

    /// Calls `handler` whenever `descriptor` is ready for what `interest` names, until the watch is cancelled.
    ///
    /// Readiness is level-triggered: what is not read is announced again in the next turn.
    package func watch(
        _ descriptor: Int32,
        for interest: Readiness,
        handler: any ReadinessHandler
    ) throws(LoopError) -> Watch {
        let slot = self.freeSlots.popLast() ?? self.watches.count
        let watch = Watch(loop: self, slot: slot, descriptor: descriptor, interest: interest, handler: handler)
        if slot == self.watches.count { self.watches.append(nil) }
        self.watches[slot] = watch
        do throws(LoopError) {
            try self.poller.add(descriptor, token: watch.token, interest)
        } catch {
            self.release(watch)
            throw error
        }
        return watch
    }

    func change(_ watch: Watch, to interest: Readiness) {
        self.poller.change(watch.descriptor, token: watch.token, interest)
    }

    func cancel(_ watch: Watch) {
        self.poller.remove(watch.descriptor)
        self.release(watch)
    }

    private func release(_ watch: Watch) {
        self.watches[watch.slot] = nil
        self.freeSlots.append(watch.slot)
    }

    // MARK: Deadlines

    /// Calls `body` once when `time` has come, in the turn's order of deadlines, unless it is cancelled before.
    ///
    /// What a deadline's body asks for comes in the next turn at the earliest, so that a deadline that renews itself
    /// without delay does not keep the sockets waiting.
    @discardableResult
    package func at(_ time: MonotonicTime, _ body: @escaping () -> Void) -> Deadline {
        let deadline = Deadline(time: time, body: body)
        self.deadlines.insert(deadline)
        return deadline
    }

    /// Calls `body` once after `delay`, counted from the beginning of this turn.
    @discardableResult
    package func after(_ delay: Duration, _ body: @escaping () -> Void) -> Deadline {
        self.at(self.now + delay, body)
    }

    // MARK: The end of a turn

    /// Calls `handler.turnEnds()` once when this turn ends: the place to write out what the turn has gathered.
    ///
    /// Callers ask at most once a turn (they keep a flag); a handler may ask again for the same turn's next pass.
    package func atTurnEnd(_ handler: any TurnEndHandler) {
        self.turnEnds.append(handler)
    }

    // MARK: Running

    /// Runs turns until `stop` is called. Must be called on the thread that created the loop.
    package func run() {
        precondition(self.isCurrent, "a loop runs on the thread that created it")
        self.isRunning = true
        self.endTurn()
        while self.isRunning {
            self.turn()
        }
    }

    /// Ends `run` after the current turn.
    package func stop() {
        self.isRunning = false
    }

    private func turn() {
        self.rest()
        let events = self.poller.wait(milliseconds: self.mailbox.maySleep() ? self.millisecondsToSleep() : 0)
        self.now = MonotonicClock.now()
        self.wallTime = WallClock.now()
        // The mailbox's own token stands for no watch: ringing has done its work.
        for event in events {
            if let watch = self.watch(token: event.token) { watch.handler?.isReady(event.readiness) }
        }
        self.mailbox.drain()
        let asked = self.deadlines.asked
        while let deadline = self.deadlines.popDue(at: self.now, askedBefore: asked) {
            deadline.fire()
        }
        self.endTurn()
    }

    private func rest() {
        guard self.linger > .zero else { return }
        let remaining = (self.now + self.linger - MonotonicClock.now()).nanoseconds
        guard remaining > 0 else { return }
        var time = timespec(tv_sec: 0, tv_nsec: Int(remaining))
        nanosleep(&time, nil)
    }

    private func endTurn() {
        while !self.turnEnds.isEmpty {
            let handlers = self.turnEnds
            self.turnEnds.removeAll(keepingCapacity: true)
            for handler in handlers { handler.turnEnds() }
        }
    }

    /// A slot may have been given to another descriptor within the same turn; the token tells them apart.
    private func watch(token: UInt64) -> Watch? {
        let slot = Int(token & 0xffff_ffff)
        guard slot < self.watches.count, let watch = self.watches[slot], watch.token == token else { return nil }
        return watch
    }

    private func millisecondsToSleep() -> Int32 {
        guard let next = self.deadlines.next else { return -1 }
        let wait = (next - MonotonicClock.now()).nanoseconds
        guard wait > 0 else { return 0 }
        return Int32(min((wait + 999_999) / 1_000_000, 60_000))
    }

    private static let mailboxToken = UInt64.max
}

/// Takes part in the end of a turn, see ``EventLoop/atTurnEnd(_:)``.
package protocol TurnEndHandler: AnyObject {
    func turnEnds()
}

/// A system call failed.
package struct LoopError: Error, CustomStringConvertible {
    package let call: String
    package let errno: Int32

    init(_ call: String) {
        self.call = call
        self.errno = Glibc.errno
    }

    package var description: String { "\(self.call): \(String(cString: strerror(self.errno)))" }
}
