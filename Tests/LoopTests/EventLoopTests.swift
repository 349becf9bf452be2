import Glibc
import Push
import Testing

@testable import Loop

@Suite struct EventLoopTests {
    @Test func `What another thread posts runs on the loop's thread, in order`() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        let thread = try LoopThread.start(name: "test") { loop in
            let bound = LoopBound(loop, to: loop)
            for number in 0..<1000 {
                loop.remote.post {
                    #expect(bound.value.isCurrent)
                    continuation.yield(number)
                    if number == 999 {
                        continuation.finish()
                        bound.value.stop()
                    }
                }
            }
        }
        var seen: [Int] = []
        for await number in stream { seen.append(number) }
        thread.join()
        #expect(seen == Array(0..<1000))
    }

    @Test func `A turn sees one time, fires what is due, and ends with those who asked`() throws {
        let loop = try EventLoop()
        var events: [String] = []
        let end = TurnEnd { events.append("end") }
        let start = loop.now
        loop.after(.milliseconds(20)) {
            events.append("second")
            loop.stop()
        }
        loop.after(.milliseconds(10)) {
            events.append("first")
            #expect(loop.now >= start + .milliseconds(10))
            loop.atTurnEnd(end)
        }
        loop.after(.milliseconds(15)) { events.append("never") }.cancel()
        loop.run()
        #expect(events == ["first", "end", "second"])
    }

    @Test func `Turns of a loop that lingers begin at least that far apart`() throws {
        let loop = try EventLoop()
        loop.linger = .milliseconds(5)
        var times: [MonotonicTime] = []
        func again() {
            times.append(loop.now)
            if times.count == 5 { loop.stop() } else { loop.after(.zero, again) }
        }
        loop.after(.zero, again)
        loop.run()
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= .milliseconds(5) })
    }

    @Test func `A descriptor is announced until it is read, and not after its watch is cancelled`() throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let loop = try EventLoop()
        let reader = Reader()
        let watch = try loop.watch(ends[0], for: .read, handler: reader)
        var byte: UInt8 = 7
        write(ends[1], &byte, 1)
        reader.onReady = {
            if reader.count == 3 {
                watch.cancel()
                loop.after(.milliseconds(5)) { loop.stop() }
            }
        }
        loop.run()
        #expect(reader.count == 3, "level-triggered: unread bytes are announced each turn, until the watch ends")
    }

    @Test func `A slot used again is not mistaken for its former owner within one turn`() throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        var other: [Int32] = [0, 0]
        #expect(pipe(&other) == 0)
        var silent: [Int32] = [0, 0]
        #expect(pipe(&silent) == 0)
        defer { for end in ends + other + silent { close(end) } }
        let loop = try EventLoop()
        let (first, second, third) = (Reader(), Reader(), Reader())
        let watches = [
            try loop.watch(ends[0], for: .read, handler: first), try loop.watch(other[0], for: .read, handler: second),
        ]
        // Both are ready at once; whoever is called first replaces the other's watch.
        for (reader, victim) in [(first, 1), (second, 0)] {
            reader.onReady = {
                watches[victim].cancel()
                watches[1 - victim].cancel()
                _ = try? loop.watch(silent[0], for: .read, handler: third)
                loop.after(.milliseconds(5)) { loop.stop() }
            }
        }
        var byte: UInt8 = 7
        write(ends[1], &byte, 1)
        write(other[1], &byte, 1)
        loop.run()
        #expect(first.count + second.count == 1)
        #expect(third.count == 0)
    }
}

private final class TurnEnd: TurnEndHandler {
    private let body: () -> Void

    init(_ body: @escaping () -> Void) {
        self.body = body
    }

    func turnEnds() { self.body() }
}

private final class Reader: ReadinessHandler {
    var count = 0
    var onReady: () -> Void = {}

    func isReady(_: Readiness) {
        self.count += 1
        self.onReady()
    }
}
