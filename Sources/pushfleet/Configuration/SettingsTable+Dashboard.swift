extension SettingsTable {
    /// What the dashboard alone goes by.
    static let dashboardKeys: [SettingKey] = [
        SettingKey(
            "dashboard.host",
            .text,
            standard: "127.0.0.1",
            "The address that the dashboard listens on; 0.0.0.0 for all."
        ),
        SettingKey("dashboard.port", .integer(0...65_535), standard: "8090", "The port there; 0 takes a free one."),
        SettingKey(
            "dashboard.tokens_file",
            .file,
            "Who may log in: a name, actor or reader, and a token or sha256:<hex> in each line. Read again on change."
        ),
        SettingKey(
            "dashboard.fleet",
            .text,
            "A name for the page's title, to tell two fleets apart."
        ),
        SettingKey(
            "dashboard.certificate_file",
            .file,
            "PEM file of the dashboard's certificate chain, for HTTPS; without it, it speaks HTTP."
        ),
        SettingKey("dashboard.private_key_file", .file, "PEM file of that certificate's private key."),
        SettingKey(
            "dashboard.proxy_header",
            .text,
            "Instead of tokens: the header in which a reverse proxy names the user, such as X-Forwarded-User."
        ),
        SettingKey(
            "dashboard.proxy_addresses",
            .text,
            "The proxies' addresses or blocks, such as 10.0.0.7, fd00::/8; from nowhere else is the header believed."
        ),
        SettingKey(
            "dashboard.proxy_actors",
            .text,
            "Users of that header who may act, in one list; * for all. Others may look."
        ),
        SettingKey(
            "dashboard.request_timeout",
            .duration(.seconds(1) ... .seconds(3600)),
            standard: "60s",
            "How long a browser may take to send a request, and how long an idle connection stays open."
        ),
        SettingKey(
            "dashboard.drain_timeout",
            .duration(.milliseconds(100) ... .seconds(3600)),
            standard: "10s",
            "How long a stopping dashboard waits for requests that are under way."
        ),
    ]
}
