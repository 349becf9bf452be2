internal import Dashboard
internal import WebServer

/// The dashboard's part of the configuration, with its users read from their file.
struct DashboardConfiguration {
    private let values: SettingValues
    private let needs: ConfigurationLoader.Needs
    private let fileName: String
    private(set) var settings = DashboardSettings()
    /// The file of tokens, to be watched.
    private(set) var tokensFile: String?
    private(set) var problems: [ConfigurationProblem] = []

    /// - Parameter needs: whether tokens and certificates are looked at.
    init(_ values: SettingValues, _ file: ConfigurationFile, needs: ConfigurationLoader.Needs) {
        self.values = values
        self.needs = needs
        self.fileName = file.name
        self.readServer()
        self.readTLS()
        self.readProxy()
        self.readTokens()
        self.checkAccess()
    }

    private mutating func readServer() {
        self.settings.host = self.values.text("dashboard", "host") ?? self.settings.host
        let port = self.values.number("dashboard", "port").flatMap(UInt16.init(exactly:))
        self.settings.port = port ?? self.settings.port
        self.settings.fleet = self.values.text("dashboard", "fleet")
        let patience = self.values.duration("dashboard", "request_timeout")
        self.settings.requestTimeout = patience ?? self.settings.requestTimeout
        let drain = self.values.duration("dashboard", "drain_timeout")
        self.settings.drainTimeout = drain ?? self.settings.drainTimeout
    }

    private mutating func readTLS() {
        let certificate = self.values.text("dashboard", "certificate_file")
        let key = self.values.text("dashboard", "private_key_file")
        switch (certificate, key) {
        case (nil, nil): break
        case (let certificate?, let key?):
            self.settings.tls = WebServer.TLSFiles(certificate: certificate, privateKey: key)
            for (file, name) in [(certificate, "certificate_file"), (key, "private_key_file")] {
                _ = self.read(file, ["dashboard", name])
            }
        case (_?, nil): self.report(["dashboard", "certificate_file"], "needs dashboard.private_key_file beside it")
        case (nil, _?): self.report(["dashboard", "private_key_file"], "needs dashboard.certificate_file beside it")
        }
    }

    private mutating func readProxy() {
        let actors = self.values.text("dashboard", "proxy_actors")
        guard let header = self.values.text("dashboard", "proxy_header") else {
            for name in ["proxy_addresses", "proxy_actors"] where self.values.text("dashboard", name) != nil {
                self.report(["dashboard", name], "does nothing without dashboard.proxy_header")
            }
            return
        }
        guard header.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: ":") }) else {
            return self.report(
                ["dashboard", "proxy_header"],
                "is no name of a header; write one such as X-Forwarded-User"
            )
        }
        guard let list = self.values.text("dashboard", "proxy_addresses") else {
            return self.report(
                ["dashboard", "proxy_addresses"],
                "is missing: anybody could send \(header); name the proxies' addresses, such as 10.0.0.7"
            )
        }
        do throws(AddressBlocks.Fault) {
            let names = (actors ?? "").split(whereSeparator: { $0 == "," || $0 == " " }).map(String.init)
            self.settings.proxy = ProxyLogin(
                header: header,
                addresses: try AddressBlocks(parsing: list),
                actors: Set(names),
                allMayAct: names.contains("*")
            )
        } catch {
            self.report(
                ["dashboard", "proxy_addresses"],
                "has \"\(error.word)\" in it; write addresses or blocks, such as 10.0.0.7 or fd00::/8"
            )
        }
    }

    private mutating func readTokens() {
        let path = ["dashboard", "tokens_file"]
        guard let file = self.values.text("dashboard", "tokens_file") else { return }
        self.tokensFile = file
        guard let text = self.read(file, path) else { return }
        do throws(TokenBook.Fault) {
            self.settings.tokens = try TokenBook(parsing: text)
        } catch {
            self.report(path, "\(file) \(error)")
            return
        }
        if self.settings.tokens.users.isEmpty {
            self.report(path, "\(file) names nobody; write a line such as: lena actor $(openssl rand -hex 32)")
        }
    }

    private mutating func checkAccess() {
        guard self.needs.contains(.dashboard) else { return }
        let loginIsAbsent = self.tokensFile == nil && self.settings.proxy == nil
        if loginIsAbsent, !self.problems.contains(where: { $0.key?.hasPrefix("dashboard.proxy_") ?? false }) {
            self.problems.append(
                ConfigurationProblem(
                    place: self.fileName,
                    key: "dashboard.tokens_file",
                    text: "is missing, so nobody could log in; name a file with a line such as: lena actor "
                        + "<32 random bytes in hex>, or set dashboard.proxy_header"
                )
            )
        }
        let isOpen = self.settings.tls == nil && !SettingChecks.isLoopback(self.settings.host)
        guard isOpen, self.settings.proxy == nil else { return }
        self.report(
            ["dashboard", "host"],
            "takes tokens on \(self.settings.host) without TLS; set dashboard.certificate_file, or put a proxy with TLS "
                + "before it",
            .warning
        )
    }

    private mutating func read(_ file: String, _ path: [String]) -> String? {
        guard self.needs.contains(.dashboard) else { return nil }
        do throws(ValueFault) {
            return try ConfigurationLoader.read(file)
        } catch {
            self.report(path, "\(file) \(error.phrase)")
            return nil
        }
    }

    private mutating func report(
        _ path: [String],
        _ text: String,
        _ severity: ConfigurationProblem.Severity = .error
    ) {
        self.problems.append(self.values.problem(at: path, text, severity))
    }
}
