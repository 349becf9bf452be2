internal import Push

/// Tells a busy peer from one that only makes work: every frame and every KiB costs, useful ones earn, and time
/// forgives.
///
/// Bounds what PING, SETTINGS, WINDOW_UPDATE, empty DATA and unknown frames can cost us (RFC 9113 §10.5), also where
/// nghttp2 sets no bound. A peer that answers, or that lets us send, never comes near it.
struct FloodGate {
    /// Frames or KiB for nothing that are taken at once.
    static let burst = 4096
    /// Frames or KiB for nothing per second that are taken for ever.
    static let perSecond = 128
    /// What one answered or new request earns: its frames and its share of window updates.
    static let perMessage = 16

    private var credit = FloodGate.burst
    private var refilledAt: MonotonicTime
    /// Less than a KiB.
    private var unpaidBytes = 0

    init(at now: MonotonicTime) {
        self.refilledAt = now
    }

    /// One frame arrived. False: it was one too many.
    mutating func frameArrived(at now: MonotonicTime) -> Bool {
        self.pay(1, at: now)
    }

    /// Bytes arrived, of whatever frames; nghttp2 drops some without a word. False: they were too many.
    mutating func bytesArrived(_ count: Int, at now: MonotonicTime) -> Bool {
        self.unpaidBytes += count
        defer { self.unpaidBytes %= 1024 }
        return self.pay(self.unpaidBytes / 1024, at: now)
    }

    /// Part of a wanted body arrived.
    mutating func bodyArrived(_ count: Int) {
        self.earn(1 + count / 1024)
    }

    private mutating func pay(_ cost: Int, at now: MonotonicTime) -> Bool {
        self.credit -= cost
        guard self.credit < 0 else { return true }
        let seconds = (now - self.refilledAt).nanoseconds / 1_000_000_000
        guard seconds > 0 else { return false }
        self.refilledAt = now
        self.earn(Int(min(seconds, 3600)) * Self.perSecond)
        return self.credit >= 0
    }

    mutating func earn(_ frames: Int) {
        self.credit = min(self.credit + frames, Self.burst)
    }
}
