import APNs
import Push
import Store
import Loop

struct CounterSlot { let index: Int }
enum CounterField {
    case received, redelivered, delivered, retried, tokensGone, givenBack, attempts, possibleDuplicates
    case duplicatesAvoided, held, resent, credentialPauses, publishFailures
    case deadLettered(DeadLetterReason)
    case answered(status: Int, reason: ApnsReason?)
    case failed(SendFailure)
}
enum HistogramField { case apnsLatency, endToEnd }
struct CounterBatch {
    mutating func register(app: String, lane: String) -> CounterSlot { CounterSlot(index: 0) }
    mutating func add(_ f: CounterField, _ s: CounterSlot, _ n: Int64 = 1) {}
    mutating func observe(_ f: HistogramField, _ d: Duration, _ s: CounterSlot) {}
}
struct WorkerHeartbeat { let connections: [(String, Int)]; let inFlight: [(String, String, Int)] }
final class CounterFlush {
    init(client: RedisClient, worker: InstanceID, interval: Duration, on: EventLoop) {}
    func flush(_ b: inout CounterBatch, heartbeat: WorkerHeartbeat) {}
    func finish(_ b: inout CounterBatch, _ done: @escaping () -> Void) { done() }
}
final class DoneTokens {
    init(client: RedisClient) {}
    func read(_ key: [UInt8], capacity: Int, _ c: @escaping (TokenBits?) -> Void) { c(nil) }
    func write(_ key: [UInt8], tokens: [Int], life: Duration) {}
}
final class SharedProviderToken {
    init(teamID: String, keyID: String, client: RedisClient) {}
    func fetch(mint: @escaping () -> ProviderToken?, completion: @escaping (ProviderToken?) -> Void) { completion(nil) }
}
