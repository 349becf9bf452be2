internal import Push

extension SettingsTable {
    /// What the gateway alone goes by.
    static let gatewayKeys: [SettingKey] = [
        SettingKey(
            "gateway.host",
            .text,
            standard: "127.0.0.1",
            "The address that the gateway listens on; 0.0.0.0 for all."
        ),
        SettingKey("gateway.port", .integer(0...65_535), standard: "9911", "The port there; 0 takes a free one."),
        SettingKey(
            "gateway.certificate_file",
            .file,
            "PEM file of the gateway's certificate chain, for HTTPS; without it, it speaks HTTP."
        ),
        SettingKey("gateway.private_key_file", .file, "PEM file of that certificate's private key."),
        SettingKey(
            "gateway.region",
            .text,
            standard: "us-east-1",
            "The region that ARNs and signatures name, such as eu-west-1; the same as in the SDKs' settings."
        ),
        SettingKey(
            "gateway.account",
            .account,
            standard: "000000000000",
            "The account that ARNs name: 12 digits. Take your own, and ARNs that backends keep stay good."
        ),
        SettingKey(
            "gateway.skew",
            .duration(.seconds(1) ... .seconds(3600)),
            standard: "15m",
            "How far the time of a signature may be from the gateway's clock."
        ),
        SettingKey(
            "gateway.anonymous",
            .choice(["no", "local-use-only"]),
            standard: "no",
            "local-use-only answers everyone who reaches the port, without signature and with all rights."
        ),
        SettingKey(
            "gateway.upsert",
            .choice(["no", "yes"]),
            standard: "no",
            "Registering a token again changes its endpoint and enables it, where Amazon refuses other attributes."
        ),
        SettingKey(
            "gateway.token_limit",
            .choice(["no", "yes"]),
            standard: "yes",
            "Amazon's limit: three endpoints may be made with one token. Without it a fourth gets a random id."
        ),
        SettingKey(
            "gateway.max_connections",
            .integer(1...1_000_000),
            standard: "4096",
            "Connections of clients that are open at a time; more wait to be accepted."
        ),
        SettingKey(
            "gateway.request_timeout",
            .duration(.seconds(1) ... .seconds(3600)),
            standard: "60s",
            "How long a client may take to send a request, and how long an idle connection stays open."
        ),
        SettingKey(
            "gateway.drain_timeout",
            .duration(.milliseconds(100) ... .seconds(3600)),
            standard: "20s",
            "How long a stopping gateway waits for requests that are under way."
        ),
        SettingKey(
            "gateway.apns_connections",
            .integer(1...1000),
            standard: "4",
            "Connections to Apple that all workers together may hold with a credential that came through the API."
        ),
        SettingKey("gateway.apns_host", .text, "A host other than Apple's for these credentials: a simulator."),
        SettingKey("gateway.apns_port", .integer(1...65_535), "The port there."),
        SettingKey("gateway.apns_ca_file", .file, "PEM file of the certificate authorities to trust there."),
        SettingKey(
            "gateway.url",
            .text,
            "Where subscribers reach the gateways, such as https://sns.example.com; if left out, the address it listens on."
        ),
        SettingKey(
            "gateway.webhooks.allow",
            .text,
            standard: "public",
            "To whom http subscribers' messages may be posted: public, hosts, *.<domain>, addresses, blocks; or none."
        ),
        SettingKey(
            "gateway.webhooks.timeout",
            .duration(.milliseconds(100) ... .seconds(300)),
            standard: "15s",
            "How long an http subscriber may take to answer."
        ),
        SettingKey(
            "gateway.webhooks.requests_per_host",
            .integer(1...1000),
            standard: "8",
            "Requests to one host of http subscribers that a gateway has under way at a time."
        ),
        SettingKey(
            "gateway.webhooks.ca_file",
            .file,
            "PEM file of certificate authorities to trust beside the system's, for https subscribers."
        ),
        SettingKey(
            "gateway.webhooks.signing_certificate_file",
            .file,
            "PEM file of the certificate of the key that signs messages to subscribers."
        ),
        SettingKey(
            "gateway.webhooks.signing_key_file",
            .file,
            "PEM file of that RSA key; if left out, the gateways make one and share it in Redis, sealed."
        ),
        SettingKey(
            "access_keys.*.id",
            .text,
            isRequired: true,
            "The access key id, as the SDKs' AWS_ACCESS_KEY_ID."
        ),
        SettingKey(
            "access_keys.*.secret",
            .text,
            isSecret: true,
            "The secret access key, as the SDKs' AWS_SECRET_ACCESS_KEY; or use secret_file."
        ),
        SettingKey("access_keys.*.secret_file", .file, "A file whose first line is the secret, for a mounted secret."),
        SettingKey(
            "access_keys.*.allow",
            .policy,
            standard: "*",
            "What the key may do: a list such as Publish on app/APNS/*, Subscribe on news-*. * is everything."
        ),
        SettingKey(
            "access_keys.*.rate",
            .integer(1...RateLimit.limit),
            "Calls per second at all gateways; more are answered with Throttling, which SDKs retry. Else no limit."
        ),
        SettingKey(
            "access_keys.*.bucket_size",
            .integer(1...RateLimit.limit),
            "Calls that may come at once beyond the rate; if left out, what the rate gives in a second, 5 at least."
        ),
    ]

    /// What every verb goes by.
    static let logKeys: [SettingKey] = [
        SettingKey(
            "log.level",
            .choice(["trace", "debug", "info", "notice", "warning", "error", "critical"]),
            standard: "info",
            "How much a worker says on standard error."
        )
    ]
}
