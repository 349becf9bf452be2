/// Carries a value that belongs to a loop's thread through code that does not run there.
///
/// `@unchecked Sendable` holds because the value is reached only on the loop's own thread, which every access checks.
package struct LoopBound<Value>: @unchecked Sendable {
    private let loop: EventLoop
    private let bound: Value

    package init(_ value: Value, to loop: EventLoop) {
        self.loop = loop
        self.bound = value
    }

    /// The value.
    /// - Precondition: the caller runs on the loop's thread.
    package var value: Value {
        precondition(self.loop.isCurrent, "a value bound to a loop was touched on another thread")
        return self.bound
    }
}
