internal import Push

/// Which publishes of one channel's life wait for the broker's confirm.
///
/// The broker counts publishes from 1 and confirms single numbers or all up to one, in any order
/// (https://www.rabbitmq.com/confirms.html). A returned message is confirmed as well, after its return: return and
/// confirm together are a failure.
struct ConfirmLedger {
    private struct Entry {
        let token: UInt64
        let deadline: MonotonicTime
        /// False once it has been answered for, be it by giving up.
        var isOpen = true
    }

    private var entries: [Entry] = []
    private var head = 0
    /// The number of `entries[head]`.
    private var base: UInt64 = 1
    private var returns: [UInt64: PublishOutcome] = [:]
    private var earliestDeadline = MonotonicTime(nanoseconds: .min)
    /// Publishes that wait for an answer.
    private(set) var count = 0

    /// A message is sent. Returns its number.
    mutating func sent(token: UInt64, deadline: MonotonicTime) -> UInt64 {
        self.entries.append(Entry(token: token, deadline: deadline))
        self.count += 1
        return self.base + UInt64(self.entries.count - self.head) - 1
    }

    /// The broker gave a message back; its confirm follows.
    mutating func returned(_ sequence: UInt64, code: UInt16, text: String) {
        guard self.contains(sequence) else { return }
        self.returns[sequence] = .returned(code: code, text: text)
    }

    /// The broker's ack or nack. False if it names a message that was never sent.
    mutating func confirm(
        _ sequence: UInt64,
        multiple: Bool,
        isNack: Bool,
        _ emit: (PublishResult) -> Void
    ) -> Bool {
        // 0 with `multiple` means all that there are.
        let last = sequence == 0 && multiple ? self.base + UInt64(self.entries.count - self.head) - 1 : sequence
        guard last < self.base + UInt64(self.entries.count - self.head), sequence > 0 || multiple else { return false }
        if last >= self.base {
            for number in (multiple ? self.base : last)...last { self.settle(number, isNack: isNack, emit) }
            self.advance()
        }
        return true
    }

    /// Gives up on what has waited too long. A confirm that comes later changes nothing.
    mutating func expire(at now: MonotonicTime, _ emit: (PublishResult) -> Void) {
        guard self.earliestDeadline <= now else { return }
        var index = self.head
        // Deadlines grow with the numbers.
        while index < self.entries.count, self.entries[index].deadline <= now {
            if self.entries[index].isOpen {
                self.entries[index].isOpen = false
                self.count -= 1
                let sequence = self.base + UInt64(index - self.head)
                let outcome = self.returns.removeValue(forKey: sequence) ?? .unknown(.timeout)
                emit(PublishResult(token: self.entries[index].token, outcome: outcome))
            }
            index += 1
        }
        self.advance()
    }

    /// Nothing expires before this time: while the broker says that it takes nothing, and for a while after.
    mutating func holdExpiry(until time: MonotonicTime) {
        self.earliestDeadline = time
    }

    /// When `expire` has something to do.
    var nextDeadline: MonotonicTime? {
        var index = self.head
        while index < self.entries.count, !self.entries[index].isOpen { index += 1 }
        guard index < self.entries.count else { return nil }
        return max(self.entries[index].deadline, self.earliestDeadline)
    }

    /// The channel is gone: answers for everything in the order of publishing and begins anew.
    mutating func end(_ error: BrokerError, _ emit: (PublishResult) -> Void) {
        for index in self.head..<self.entries.count where self.entries[index].isOpen {
            let outcome = self.returns[self.base + UInt64(index - self.head)] ?? .unknown(.lost(error))
            emit(PublishResult(token: self.entries[index].token, outcome: outcome))
        }
        self = ConfirmLedger()
    }

    private func contains(_ sequence: UInt64) -> Bool {
        sequence >= self.base && sequence - self.base < UInt64(self.entries.count - self.head)
    }

    private mutating func settle(_ sequence: UInt64, isNack: Bool, _ emit: (PublishResult) -> Void) {
        let index = self.head + Int(sequence - self.base)
        guard self.entries[index].isOpen else { return }
        self.entries[index].isOpen = false
        self.count -= 1
        let outcome: PublishOutcome
        if let back = self.returns.isEmpty ? nil : self.returns.removeValue(forKey: sequence) {
            outcome = back
        } else {
            outcome = isNack ? .nacked : .confirmed
        }
        emit(PublishResult(token: self.entries[index].token, outcome: outcome))
    }

    private mutating func advance() {
        while self.head < self.entries.count, !self.entries[self.head].isOpen {
            self.head += 1
            self.base += 1
        }
        if self.head == self.entries.count {
            self.entries.removeAll(keepingCapacity: true)
            self.head = 0
        } else if self.head > 4096, self.head > self.entries.count / 2 {
            self.entries.removeFirst(self.head)
            self.head = 0
        }
    }
}
