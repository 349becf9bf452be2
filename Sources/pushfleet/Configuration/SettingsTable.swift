internal import Push

/// Every key there is. Reading, checking, `doctor --keys` and the test of the example file all go by this table.
enum SettingsTable {
    private static let week: Duration = .seconds(7 * 24 * 3600)

    /// One for each processor core is plenty; every one has connections to RabbitMQ, Redis and Apple.
    static let loops = 1...64

    static let keys: [SettingKey] = Self.fleetKeys + Self.gatewayKeys + Self.dashboardKeys + Self.logKeys

    private static let fleetKeys: [SettingKey] = [
        SettingKey(
            "amqp.url",
            .amqpURL,
            isSecret: true,
            "Where RabbitMQ is, with user, password and virtual host; or use amqp.url_file."
        ),
        SettingKey("amqp.url_file", .file, "A file that holds that URL and nothing else, for a mounted secret."),
        SettingKey(
            "amqp.ca_file",
            .file,
            "PEM file of the certificate authorities to trust for amqps; else the system's."
        ),
        SettingKey(
            "amqp.heartbeat",
            .duration(.seconds(5) ... .seconds(60)),
            standard: "10s",
            "How often an idle connection shows that it is alive; a dead one is noticed after two. Whole seconds."
        ),
        SettingKey(
            "redis.url",
            .redisURL,
            isSecret: true,
            "Where Redis is, with user, password and database number; or use redis.url_file."
        ),
        SettingKey("redis.url_file", .file, "A file that holds that URL and nothing else, for a mounted secret."),
        SettingKey(
            "redis.ca_file",
            .file,
            "PEM file of the certificate authorities to trust for rediss; else the system's."
        ),
        SettingKey(
            "redis.master_key",
            .text,
            isSecret: true,
            "What credentials that rest in Redis are sealed with: 32 bytes in base64 or hexadecimal digits."
        ),
        SettingKey(
            "redis.master_key_file",
            .file,
            "A file that holds it, for a mounted secret; one key a line: the first seals, all open."
        ),
        SettingKey(
            "budget.lease",
            .duration(.seconds(1) ... .seconds(3600)),
            standard: "20s",
            "How long a worker may use its share without hearing from Redis; a dead worker's share is back after it."
        ),
        SettingKey(
            "budget.heartbeat",
            .duration(.milliseconds(100) ... .seconds(600)),
            standard: "3s",
            "How often a worker renews its lease. At most a sixth of the lease."
        ),
        SettingKey(
            "budget.quantum",
            .duration(.seconds(1) ... .seconds(3600)),
            standard: "30s",
            "How long a worker keeps its turn while there are more workers than connections."
        ),
        SettingKey(
            "budget.connect_rate",
            .integer(1...1000),
            standard: "10",
            "Connections that all workers together open in a second with one credential, and at once after a quiet one."
        ),
        SettingKey(
            "worker.loops",
            .integer(Self.loops),
            standard: "1",
            "Workers in one process, each with a thread, connections and a lease of its own; --loops goes before it."
        ),
        SettingKey(
            "worker.drain_timeout",
            .duration(.milliseconds(100) ... .seconds(3600)),
            standard: "20s",
            "How long a stopping worker waits for answers; give the process a few seconds more before killing it."
        ),
        SettingKey(
            "worker.request_timeout",
            .duration(.seconds(1) ... .seconds(600)),
            standard: "20s",
            "How long one request waits for Apple's answer before it counts as lost."
        ),
        SettingKey(
            "worker.ping_interval",
            .duration(.milliseconds(100) ... .seconds(3600)),
            standard: "45s",
            "After how long without anything from Apple a connection is asked whether it is still there."
        ),
        SettingKey(
            "worker.ping_timeout",
            .duration(.milliseconds(100) ... .seconds(600)),
            standard: "10s",
            "How long that question may go unanswered before the connection is given up."
        ),
        SettingKey(
            "worker.max_connection_age",
            .duration(.seconds(1)...Self.week),
            standard: "12h",
            "When a connection to Apple is replaced by a new one, give or take a quarter."
        ),
        SettingKey(
            "worker.streams_per_connection",
            .integer(1...10_000),
            standard: "500",
            "Requests in flight on one connection beyond which a worker asks for another."
        ),
        SettingKey(
            "worker.prefetch_per_connection",
            .integer(1...2000),
            standard: "750",
            "Messages a worker holds per granted connection. RabbitMQ advises against more than 2000 per consumer."
        ),
        SettingKey(
            "worker.streams_per_token",
            .integer(1...1000),
            standard: "8",
            "Requests in flight for one device token; more wait, without holding up other tokens."
        ),
        SettingKey(
            "worker.counter_interval",
            .duration(.milliseconds(50) ... .seconds(60)),
            standard: "500ms",
            "How often a worker writes its counters to Redis."
        ),
        SettingKey(
            "worker.admin_host",
            .text,
            standard: "127.0.0.1",
            "The address of a worker's probes and metrics; 0.0.0.0 for all. They need no login."
        ),
        SettingKey(
            "worker.admin_port",
            .integer(0...65_535),
            "The port of /livez, /readyz and /metrics, one for each process, such as 9912; 0 takes a free one. Without "
                + "it there are none."
        ),
        SettingKey(
            "trail.keep",
            .duration(.seconds(60)...Self.week),
            standard: "24h",
            "How long pushfleet find knows what happened to a message."
        ),
        SettingKey(
            "trail.max_memory",
            .size(0...(1 << 40)),
            standard: "256MB",
            "What that may take in Redis, for the whole fleet; at least 8MB, or 0 to write nothing. What went well goes "
                + "first."
        ),
        SettingKey(
            "credentials.*.environment",
            .choice(["production", "sandbox"]),
            isRequired: true,
            "Which of Apple's two worlds the key or certificate is used in."
        ),
        SettingKey("credentials.*.team_id", .appleID, "The team, from Apple's membership page."),
        SettingKey("credentials.*.key_id", .appleID, "The key, from the file's name AuthKey_<key id>.p8."),
        SettingKey("credentials.*.key_file", .file, "The .p8 file from Apple."),
        SettingKey(
            "credentials.*.certificate_file",
            .file,
            "Instead of a key: PEM file of Apple's certificate, with its chain, and with its private key unless "
                + "private_key_file names that."
        ),
        SettingKey("credentials.*.private_key_file", .file, "PEM file of the certificate's private key."),
        SettingKey(
            "credentials.*.pkcs12_file",
            .file,
            "Instead of certificate_file: a .p12 file with the certificate and its private key."
        ),
        SettingKey(
            "credentials.*.passphrase",
            .text,
            isSecret: true,
            "What opens the private key or the .p12 file; or use passphrase_file."
        ),
        SettingKey(
            "credentials.*.passphrase_file",
            .file,
            "A file whose first line is the passphrase, for a mounted secret."
        ),
        SettingKey(
            "credentials.*.max_connections",
            .integer(1...1000),
            isRequired: true,
            "Connections to Apple that all workers together may hold with this credential. One carries thousands of "
                + "pushes a second."
        ),
        SettingKey("credentials.*.host", .text, "A host other than Apple's: a simulator or a proxy."),
        SettingKey("credentials.*.port", .integer(1...65_535), standard: "443", "Apple listens on 443 and on 2197."),
        SettingKey(
            "credentials.*.broadcast_host",
            .text,
            "A host for broadcasts alone, with connections of their own; else they share those of other pushes."
        ),
        SettingKey(
            "credentials.*.broadcast_port",
            .integer(1...65_535),
            "The port there; the same as port if left out."
        ),
        SettingKey(
            "credentials.*.broadcast_connections",
            .integer(1...1000),
            standard: "1",
            "Connections that all workers together may hold to that host. One for each worker is best."
        ),
        SettingKey(
            "credentials.*.channel_host",
            .text,
            "A host other than Apple's for the management of broadcast channels: a simulator or a proxy."
        ),
        SettingKey(
            "credentials.*.channel_port",
            .integer(1...65_535),
            "The port there. Apple's is 2196 for production and 2195 for sandbox."
        ),
        SettingKey(
            "credentials.*.ca_file",
            .file,
            "PEM file of the certificate authorities to trust there; else the system's. Needed for a simulator."
        ),
        SettingKey(
            "credentials.*.proxy",
            .proxyURL,
            isSecret: true,
            "An HTTP proxy on the way to Apple, http://user:password@host:port; or use proxy_file."
        ),
        SettingKey("credentials.*.proxy_file", .file, "A file that holds that URL and nothing else."),
        SettingKey("apps.*.credential", .text, isRequired: true, "The name of the credential that the app uses."),
        SettingKey("apps.*.bundle_id", .text, "What topics derive from; the app's name if left out."),
        SettingKey(
            "apps.*.lint",
            .choice(PayloadLint.Mode.allCases.map(\.rawValue)),
            standard: PayloadLint.Mode.off.rawValue,
            "strict checks payloads against Apple's keys and types and dead-letters what Apple would not understand."
        ),
        SettingKey(
            "apps.*.fit",
            .choice(PayloadFit.allCases.map(\.rawValue)),
            standard: PayloadFit.reject.rawValue,
            "What becomes of a payload over Apple's limit: reject, or truncate the alert's text until it fits."
        ),
        SettingKey(
            "apps.*.rate",
            .integer(1...RateLimit.limit),
            "Pushes per second that all workers together may send, first attempts and retries alike; else no limit."
        ),
        SettingKey(
            "apps.*.bucket_size",
            .integer(1...RateLimit.limit),
            "Pushes that may go at once beyond the rate; if left out, what the rate gives in a second, and 5 at least."
        ),
        SettingKey(
            "apps.*.weight",
            .integer(1...100),
            standard: "1",
            "Its part beside other apps of the credential while there is not enough for all of them."
        ),
        SettingKey(
            "apps.*.retry.min_backoff",
            .duration(.milliseconds(1)...Self.week),
            standard: "10s",
            "The wait before the first retry."
        ),
        SettingKey(
            "apps.*.retry.max_backoff",
            .duration(.milliseconds(1)...Self.week),
            standard: "10m",
            "The longest wait between two attempts."
        ),
        SettingKey(
            "apps.*.retry.max_doublings",
            .integer(0...62),
            standard: "5",
            "How often the wait doubles; after that it grows by the same amount each time."
        ),
        SettingKey(
            "apps.*.retry.age_limit",
            .duration(.milliseconds(1)...Self.week),
            standard: "3h",
            "No attempt starts later than this after the message was published (or after its not_before)."
        ),
        SettingKey(
            "apps.*.retry.retry_limit",
            .integer(0...1_000_000),
            "How many retries a message gets at most; without it only age_limit ends them."
        ),
        SettingKey(
            "apps.*.breaker.window",
            .integer(20...10_000),
            standard: "1000",
            "How many of Apple's last answers to the app the breaker looks at."
        ),
        SettingKey(
            "apps.*.breaker.threshold",
            .integer(0...100),
            standard: "50",
            "The percentage of BadDeviceToken and DeviceTokenNotForTopic among them that stops the app; 0 for never."
        ),
    ]

    /// The keys one step below a path, in the table's order, each once. `*` if names stand there.
    static func words(below path: [String]) -> [String] {
        var words: [String] = []
        for key in Self.keys where key.path.count > path.count && Self.matches(key.path.prefix(path.count), path) {
            let word = key.path[path.count]
            if !words.contains(word) { words.append(word) }
        }
        return words
    }

    /// The row for a path whose names are filled in.
    static func key(at path: [String]) -> SettingKey? {
        Self.keys.first { $0.path.count == path.count && Self.matches($0.path[...], path) }
    }

    private static func matches(_ pattern: ArraySlice<String>, _ path: [String]) -> Bool {
        zip(pattern, path).allSatisfy { $0 == "*" || $0 == $1 }
    }
}
