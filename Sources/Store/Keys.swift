/// Every key that PushFleet keeps in Redis. This file is the key schema.
///
/// All keys begin with `pf:`. What stands in braces is the hash tag of Redis Cluster: keys that one script touches
/// share it. Every key has a time to live that is renewed by use, but for those of `{apps}`: they are configuration, which
/// no rest may end.
///
/// | key | type | what | lives after last use |
/// |---|---|---|---|
/// | `pf:budget:{pool}` | hash | field `meta`: run id, last time, end of quarantine; `counts`: see ``BudgetScript``; one field per worker: its lease | 30 days |
/// | `pf:pace:{pool}` | string | when the next connection of the fleet would be due at a steady pace, microseconds | until then |
/// | `pf:token:{team.key}` | hash | `jwt`, `issued`, `owner`, `locked`: the provider token, a secret that Apple honours for an hour | 60 min |
/// | `pf:{counters}:of:lane:app` | hash | counters of one app and lane, see ``CounterField`` | 90 days |
/// | `pf:{counters}:all` | sorted set | `lane:app` by last write | 90 days |
/// | `pf:{counters}:minute:number:lane:app` | hash | the same counters, of that minute, without histograms | 48 h |
/// | `pf:{counters}:fleet:number:lane` | hash | of that minute and all apps, with histograms | 48 h |
/// | `pf:{counters}:schema` | string | the version of what stands under `pf:{counters}` and `pf:{workers}` | 90 days |
/// | `pf:{counters}:flushed:worker` | string | number of the worker's last flush, so that none counts twice | 1 day |
/// | `pf:{workers}:of:worker` | hash | one worker's heartbeat, see ``WorkerBeat`` | 60 s |
/// | `pf:{workers}:all` | sorted set | worker ids by last beat | 1 day |
/// | `pf:{workers}:drain:worker` | string | time and name: somebody wants this worker to leave, see ``DrainOrder`` | 10 min |
/// | `pf:{workers}:pools` | sorted set | budget pools by the last beat that named them | 90 days |
/// | `pf:rate:{app}` | string | run id, when the app's token bucket would be full, when a worker was last sent away | 30 days |
/// | `pf:{paused}:apps` | hash | `fault:app`, `hand:app`: paused apps, see ``AppPause`` | as its entries; a pause by hand without end stays |
/// | `pf:{apps}:all` | hash | app id: its settings as JSON, or `removed <time>`, see ``StoredApps`` | for good |
/// | `pf:{apps}:credentials` | hash | app id: its sealed credential, see ``StoredApps`` | for good |
/// | `pf:{apps}:version` | string | grows with every change of an app or credential | for good |
/// | `pf:calls:{access key}` | string | the bucket of its calls, and when it was looked at, see ``CallPermits`` | until it is full, and a minute |
/// | `pf:first:{message}` | string | which of several publishes of a message counts, see ``OnceClaim`` | an hour to a day |
/// | `pf:first:letter:{letter}` | string | which of several replays of a dead letter counts, see ``OnceClaim`` | a day |
/// | `pf:scheduled:{name}` | string | whether a push may still be cancelled, see ``ScheduledPush`` | a day after its time |
/// | `pf:{trail}:index` | hash | the trail's generations and what it takes, see ``TrailScript`` | what `trail.keep` says |
/// | `pf:{trail}:session:run` | hash | `worker`, and the texts that one worker's records name by numbers | the same |
/// | `pf:{trail}:generation:list` | list | records of messages (`pm`, `km` and two digits) or links from tokens (`pt`, `kt`), see ``TrailFormat`` | the same |
/// | `pf:{dashboard}:actions` | list | what people did at dashboards, the newest first, see ``DashboardActions`` | 90 days |
/// | `pf:done:{message.copy}` | bitmap | bit n is set when token n of the message is settled | the app's age limit |
///
/// The gateway's keys, `pf:sns:` and `pf:once:`, are those of the room Registry.
///
/// Times are milliseconds since 1970 by the clock of Redis, those of `pf:rate` and `pf:pace` microseconds.
package enum Keys {
    /// - Parameter pool: names a credential: environment, team and key, or certificate.
    package static func budget(pool: String) -> String { "pf:budget:{\(pool)}" }

    package static func pace(pool: String) -> String { "pf:pace:{\(pool)}" }

    package static func token(team: String, key: String) -> String { "pf:token:{\(team).\(key)}" }

    package static func counters(app: String, lane: String) -> String {
        self.countersPrefix + self.lane(lane, ofApp: app)
    }
    static let countersPrefix = "pf:{counters}:of:"
    package static let allCounters = "pf:{counters}:all"
    static func minute(_ minute: Int64, _ lane: String) -> String { "pf:{counters}:minute:\(minute):\(lane)" }
    static func fleetMinute(_ minute: Int64, lane: String) -> String { "pf:{counters}:fleet:\(minute):\(lane)" }
    package static let counterSchema = "pf:{counters}:schema"
    package static func flushed(worker: InstanceID) -> String { "pf:{counters}:flushed:\(worker)" }

    package static func worker(_ id: String) -> String { "pf:{workers}:of:\(id)" }
    package static func drainOrder(worker: String) -> String { "pf:{workers}:drain:\(worker)" }
    package static let allWorkers = "pf:{workers}:all"
    package static let allPools = "pf:{workers}:pools"

    package static func rate(app: String) -> String { "pf:rate:{\(app)}" }
    package static let pausedApps = "pf:{paused}:apps"

    package static let apps = "pf:{apps}:all"
    package static let appCredentials = "pf:{apps}:credentials"
    package static let appsVersion = "pf:{apps}:version"

    package static let trailIndex = "pf:{trail}:index"
    package static func trailSession(_ session: String) -> String { "pf:{trail}:session:\(session)" }
    static func trail(_ generation: String, list: String) -> String { "pf:{trail}:\(generation):\(list)" }

    package static func done(message: String, copy: String) -> String { "pf:done:{\(message).\(copy)}" }

    package static func calls(_ accessKey: String) -> String { "pf:calls:{\(accessKey)}" }

    package static func scheduled(_ name: String) -> String { "pf:scheduled:{\(name)}" }

    package static func first(message: String) -> String { "pf:first:{\(message)}" }

    package static func first(letter: String) -> String { "pf:first:letter:{\(letter)}" }

    package static let dashboardActions = "pf:{dashboard}:actions"

    /// The lane comes first because an app's name may hold a colon.
    static func lane(_ lane: String, ofApp app: String) -> String { "\(lane):\(app)" }

    static let budgetLife = Duration.seconds(30 * 86_400)
    static let rateLife = Duration.seconds(30 * 86_400)
    static let counterLife = Duration.seconds(90 * 86_400)
    static let minuteLife = Duration.seconds(48 * 3600)
    static let actionsLife = Duration.seconds(90 * 86_400)
    static let flushedLife = Duration.seconds(86_400)
}
