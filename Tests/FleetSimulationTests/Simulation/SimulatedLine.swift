import Push

@testable import Broker
@testable import Worker

/// One queue that a worker consumes; mirrors `Line` and the part of `Consumer` around its machine and ledger.
final class SimulatedLine {
    let index: Int
    let app: Int
    let lane: Lane
    let gate: AppGate
    let credential: CredentialGate
    let admission: Admission
    var rate: SimulatedRate?
    var prefetch: PrefetchPlan
    var machine = ConsumerMachine(wanted: 0)
    var ledger = DeliveryLedger()
    var channel: BrokerModel.Channel?
    var backoff = ReconnectBackoff()
    var inFlight = 0

    init(_ index: Int, app: Int, lane: Lane, gate: AppGate, credential: CredentialGate, _ setup: Setup) {
        self.index = index
        self.app = app
        self.lane = lane
        self.gate = gate
        self.credential = credential
        self.admission = Admission(ageLimit: setup.retry.ageLimit)
        self.prefetch = PrefetchPlan(rate: setup.rates[app]?.rate)
    }

    /// The prefetch to ask for; nil when the present one will do.
    /// - Parameter share: pushes that it may hold; nil without a connection.
    func newPrefetch(share: Int?) -> Int? {
        if self.isOpen { return self.prefetch.update(share: share) }
        self.prefetch.forget()
        for pause in [self.gate.pause.own, self.credential.circuit.pause] {
            if case .paused = pause.state { return 0 }
        }
        return share == nil ? 0 : 1
    }

    var isOpen: Bool { self.gate.pause.isFlowing && self.credential.circuit.pause.isFlowing }

    var passage: Pause.Admission {
        if self.isOpen { return .go }
        let both = [self.gate.pause.admission, self.credential.circuit.pause.admission]
        return both.contains(.giveBack) ? .giveBack : both.contains(.hold) ? .hold : .go
    }
}
