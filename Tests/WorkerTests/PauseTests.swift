import Push
import Testing

@testable import Worker

private func at(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1_000_000_000)) }

@Suite struct PauseTests {
    /// One line of a transcript: what happens when, and how it stands afterwards.
    private enum Event {
        case begin(Pause.Cause, Bool)
        case due(Bool)
        case sent(UInt64)
        case heard(Pause.Evidence, UInt64, Pause.Change)
    }

    private func play(_ transcript: [(Double, Event, Pause.Admission)]) -> Pause {
        let pause = Box(Pause())
        for (index, (time, event, admission)) in transcript.enumerated() {
            switch event {
            case .begin(let cause, let begins): #expect(pause.begin(cause, at: at(time)) == begins, "line \(index)")
            case .due(let isDue): #expect(pause.isDue(at: at(time)) == isDue, "line \(index)")
            case .sent(let context): pause.sent(context, at: at(time))
            case .heard(let evidence, let context, let change):
                #expect(pause.heard(evidence, of: context, at: at(time)) == change, "line \(index)")
            }
            #expect(pause.admission == admission, "line \(index)")
        }
        return pause.value
    }

    @Test func `A refused credential pauses, probes with one push, pauses longer and resumes`() {
        let paused = self.play([
            (0, .heard(.accepted, 1, .none), .go),
            (0, .begin(.credential, true), .giveBack),
            (1, .begin(.credential, false), .giveBack),
            (2, .heard(.accepted, 1, .none), .giveBack),
            (14.9, .due(false), .giveBack),
            (15, .due(true), .go),
            (15, .due(false), .go),
            (16, .heard(.accepted, 1, .none), .go),
            (16, .sent(7), .hold),
            (17, .heard(.refused, 1, .none), .hold),
            (18, .heard(.refused, 7, .paused), .giveBack),
            (47.9, .due(false), .giveBack),
            (48, .due(true), .go),
            (48, .sent(8), .hold),
            (49, .heard(.unsent, 8, .probesAgain), .go),
            (49, .sent(8), .hold),
            (50, .heard(.accepted, 8, .resumed), .go),
            (51, .begin(.credential, true), .giveBack),
            (66, .due(true), .go),
        ])
        #expect(paused.cause == .credential)
    }

    @Test func `Waits double up to five minutes, during an outage up to ten seconds`() {
        for (cause, waits) in [
            (Pause.Cause.credential, [15, 30, 60, 120, 240, 300, 300]), (.suspects, [15, 30, 60]),
            (.outage, [1, 2, 4, 8, 10, 10]),
        ] {
            let pause = Box(Pause())
            var now = 0.0
            #expect(pause.begin(cause, at: at(now)))
            for (number, wait) in waits.enumerated() {
                #expect(!pause.isDue(at: at(now + Double(wait) - 0.01)), "\(cause), wait \(number)")
                now += Double(wait)
                #expect(pause.isDue(at: at(now)), "\(cause), wait \(number)")
                pause.sent(1, at: at(now))
                #expect(pause.heard(.nothing, of: 1, at: at(now)) == .paused)
            }
        }
    }

    @Test func `During an outage a probe without an answer has waited already, and any answer ends it`() {
        let paused = self.play([
            (0, .begin(.outage, true), .giveBack),
            (1, .due(true), .go),
            (1, .sent(1), .hold),
            (2, .heard(.nothing, 1, .paused), .giveBack),
            (3, .due(true), .go),
            (3, .sent(2), .hold),
            // Twenty seconds of silence: the next one goes a second later, not ten.
            (23, .heard(.nothing, 2, .paused), .giveBack),
            (24, .due(true), .go),
            (24, .heard(.nothing, 99, .none), .go),
            (24, .heard(.answered, 99, .resumed), .go),
        ])
        #expect(paused.isFlowing)
    }

    @Test func `Suspect probes go on pausing, and what says nothing of tokens lets the next one try`() {
        let paused = self.play([
            (0, .begin(.suspects, true), .giveBack),
            (15, .due(true), .go),
            (15, .sent(1), .hold),
            (16, .heard(.answered, 1, .probesAgain), .go),
            (16, .sent(2), .hold),
            (17, .heard(.suspect, 2, .paused), .giveBack),
            (47, .due(true), .go),
            (47, .sent(3), .hold),
            (48, .heard(.refused, 3, .paused), .giveBack),
        ])
        #expect(paused.cause == .credential, "another reason, another cause")
    }
}

@Suite struct CredentialDoubtTests {
    @Test func `One refusal is not believed, nor those of pushes that were on their way; the next one is`() {
        var doubt = CredentialDoubt()
        let refused = { doubt.refused(sentAt: at($0), at: at($1)) }
        #expect(!refused(1, 2))
        #expect(!refused(1.5, 2.5), "it was sent before anybody knew")
        #expect(refused(2, 3))
        #expect(!refused(3, 4), "a pause later it begins anew")
    }

    @Test func `What was accepted clears the doubt if it was sent after it began`() {
        var doubt = CredentialDoubt()
        _ = doubt.refused(sentAt: at(1), at: at(2))
        let accepted = { doubt.accepted(sentAt: at($0)) }
        #expect(!accepted(1.5))
        #expect(accepted(2.5))
    }
}

@Suite struct SuspectBreakerTests {
    @Test func `It opens at its share of the last answers, not before there are twenty`() {
        let breaker = Box(SuspectBreaker(window: 100, threshold: 50))
        for number in 1..<20 { #expect(!breaker.answered(isSuspect: true), "answer \(number)") }
        #expect(breaker.answered(isSuspect: true))

        breaker.clear()
        for _ in 0..<60 { #expect(!breaker.answered(isSuspect: false)) }
        for number in 1...49 { #expect(!breaker.answered(isSuspect: true), "suspect \(number)") }
        #expect(breaker.answered(isSuspect: true), "50 of the last 100")
    }

    @Test func `A dirty list below the share never opens it, and an old one is forgotten`() {
        let breaker = Box(SuspectBreaker(window: 100, threshold: 50))
        for number in 0..<10_000 { #expect(!breaker.answered(isSuspect: number % 5 < 2), "answer \(number)") }
        for _ in 0..<100 { #expect(!breaker.answered(isSuspect: false)) }
        for _ in 0..<49 { #expect(!breaker.answered(isSuspect: true)) }
        #expect(breaker.answered(isSuspect: true))
    }

    @Test func `A threshold of 0 is never reached`() {
        let breaker = Box(SuspectBreaker(window: 100, threshold: 0))
        for _ in 0..<1000 { #expect(!breaker.answered(isSuspect: true)) }
    }

    @Test(arguments: [1, 20, 33, 100] as [Int])
    func `Its count is that of a plain list`(window: Int) {
        let breaker = Box(SuspectBreaker(window: window, threshold: 30))
        var list: [Bool] = []
        var state: UInt64 = 42
        var opened = 0
        for number in 0..<5000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let isSuspect = state >> 60 < 5
            list.append(isSuspect)
            if list.count > max(20, window) { list.removeFirst() }
            let expected = isSuspect && list.count >= 20 && list.count(where: { $0 }) * 100 >= 30 * list.count
            #expect(breaker.answered(isSuspect: isSuspect) == expected, "answer \(number)")
            if expected { opened += 1 }
        }
        #expect(opened > 100)
    }
}

@Suite struct OutageCircuitTests {
    @Test func `Fifty failures in a row open it, once they last longer than one moment`() {
        let circuit = Box(OutageCircuit())
        for _ in 0..<1000 { #expect(!circuit.failed(at: at(1)), "one dead connection's requests") }
        #expect(!circuit.failed(at: at(1.2)))
        #expect(circuit.failed(at: at(1.25)))
        #expect(circuit.pause.cause == .outage)
        #expect(!circuit.failed(at: at(1.3)), "it is open")
    }

    @Test func `Ten failures open it after five seconds without an answer`() {
        let circuit = Box(OutageCircuit())
        for second in 0..<9 { #expect(!circuit.failed(at: at(Double(second)))) }
        #expect(circuit.failed(at: at(9)))
    }

    @Test func `An answer in between begins the count anew`() {
        let circuit = Box(OutageCircuit())
        for round in 0..<100 {
            for step in 0..<49 { #expect(!circuit.failed(at: at(Double(round) + Double(step) / 100))) }
            circuit.answered()
        }
    }

    @Test func `Through ten minutes of 503 it probes at most once a second, and recovers within ten`() {
        let circuit = Box(OutageCircuit())
        var probes = 0
        var isOpen = false
        var recovered: Double?
        var now = 0.0
        while recovered == nil, now < 700 {
            let isUp = now > 600
            switch circuit.pause.admission {
            case .go where isOpen:
                probes += 1
                circuit.sent(UInt64(probes), at: at(now))
                let change = circuit.heard(isUp ? .accepted : .nothing, of: UInt64(probes), at: at(now))
                if change == .resumed { recovered = now - 600 }
            case .go:
                if circuit.failed(at: at(now)) { isOpen = true }
            case .hold: Issue.record("a probe that was answered holds nothing")
            case .giveBack: _ = circuit.isDue(at: at(now))
            }
            now += isOpen ? 1 : 0.01
        }
        #expect((55...70).contains(probes))
        #expect(recovered.map { $0 <= 11 } == true)
    }
}
