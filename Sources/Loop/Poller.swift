internal import CLinux
internal import Glibc

/// epoll(7), level-triggered but for the bell.
struct Poller: ~Copyable {
    struct Event {
        let token: UInt64
        let readiness: Readiness
    }

    private let descriptor: Int32
    private let events: UnsafeMutableBufferPointer<epoll_event>

    init() throws(LoopError) {
        self.descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard self.descriptor >= 0 else { throw LoopError("epoll_create1") }
        self.events = .allocate(capacity: 256)
        self.events.initialize(repeating: epoll_event())
    }

    deinit {
        close(self.descriptor)
        self.events.deallocate()
    }

    func add(_ watched: Int32, token: UInt64, _ interest: Readiness) throws(LoopError) {
        guard self.control(EPOLL_CTL_ADD, watched, token: token, interest) == 0 else { throw LoopError("epoll_ctl") }
    }

    /// Announces each write to an eventfd once, edge-triggered: nobody has to read it.
    func addBell(_ descriptor: Int32, token: UInt64) throws(LoopError) {
        var event = epoll_event()
        event.events = EPOLLIN.rawValue | EPOLLET.rawValue
        event.data.u64 = token
        guard epoll_ctl(self.descriptor, EPOLL_CTL_ADD, descriptor, &event) == 0 else { throw LoopError("epoll_ctl") }
    }

    func change(_ watched: Int32, token: UInt64, _ interest: Readiness) {
        let result = self.control(EPOLL_CTL_MOD, watched, token: token, interest)
        precondition(result == 0, "a watched descriptor was closed before its watch was cancelled")
    }

    func remove(_ watched: Int32) {
        _ = epoll_ctl(self.descriptor, EPOLL_CTL_DEL, watched, nil)
    }

    /// Waits at most `milliseconds` (-1: for ever). An interrupted wait returns nothing.
    func wait(milliseconds: Int32) -> some Sequence<Event> {
        let count = epoll_wait(self.descriptor, self.events.baseAddress, Int32(self.events.count), milliseconds)
        // An event's handler may not change this array: the loop copies tokens out as it goes.
        return self.events[0..<max(0, Int(count))].lazy.map { event in
            var readiness: Readiness = []
            if event.events & (EPOLLIN.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 {
                readiness.insert(.read)
            }
            if event.events & (EPOLLOUT.rawValue | EPOLLERR.rawValue) != 0 { readiness.insert(.write) }
            return Event(token: event.data.u64, readiness: readiness)
        }
    }

    private func control(_ operation: Int32, _ watched: Int32, token: UInt64, _ interest: Readiness) -> Int32 {
        var event = epoll_event()
        if interest.contains(.read) { event.events |= EPOLLIN.rawValue }
        if interest.contains(.write) { event.events |= EPOLLOUT.rawValue }
        event.data.u64 = token
        return epoll_ctl(self.descriptor, operation, watched, &event)
    }
}
