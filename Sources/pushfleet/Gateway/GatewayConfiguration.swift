internal import Foundation
internal import Gateway
internal import Push
internal import SNS
internal import WebServer

/// The gateway's part of the configuration, with the secrets read from their files.
struct GatewayConfiguration {
    let values: SettingValues
    private let names: [(name: String, line: Int?)]
    private let fileName: String
    private let needs: ConfigurationLoader.Needs
    var settings = GatewaySettings()
    private(set) var problems: [ConfigurationProblem] = []

    /// - Parameter needs: whether secrets and certificates are looked at.
    init(_ values: SettingValues, _ file: ConfigurationFile, needs: ConfigurationLoader.Needs) {
        self.values = values
        self.names = file.names["access_keys"] ?? []
        self.fileName = file.name
        self.needs = needs
        self.readServer()
        self.readTLS()
        self.readAPNs()
        self.readWebhooks()
        for (name, line) in self.names { self.readKey(name, line) }
        self.checkKeys()
    }

    private mutating func readServer() {
        self.settings.host = self.values.text("gateway", "host") ?? self.settings.host
        self.settings.port = self.values.number("gateway", "port").flatMap(UInt16.init(exactly:)) ?? self.settings.port
        self.settings.region = self.values.text("gateway", "region") ?? self.settings.region
        self.settings.account = self.values.text("gateway", "account") ?? self.settings.account
        self.settings.skew = self.values.duration("gateway", "skew") ?? self.settings.skew
        self.settings.allowsAnonymous = self.values.text("gateway", "anonymous") == "local-use-only"
        self.settings.upserts = self.values.text("gateway", "upsert") == "yes"
        self.settings.limitsSlots = self.values.text("gateway", "token_limit") != "no"
        let connections = self.values.number("gateway", "max_connections")
        self.settings.connectionLimit = connections ?? self.settings.connectionLimit
        let patience = self.values.duration("gateway", "request_timeout")
        self.settings.requestTimeout = patience ?? self.settings.requestTimeout
        self.settings.drainTimeout = self.values.duration("gateway", "drain_timeout") ?? self.settings.drainTimeout
        if !self.settings.region.allSatisfy({ $0.isASCII && ($0.isLowercase || $0.isNumber || $0 == "-") }) {
            self.report(["gateway", "region"], "is not a region such as eu-west-1: small letters, digits and dashes")
        }
        guard self.settings.allowsAnonymous, !SettingChecks.isLoopback(self.settings.host) else { return }
        self.report(
            ["gateway", "anonymous"],
            "answers everyone who reaches \(self.settings.host), with all rights; listen on 127.0.0.1 or use access_keys",
            .warning
        )
    }

    private mutating func readTLS() {
        let certificate = self.values.text("gateway", "certificate_file")
        let key = self.values.text("gateway", "private_key_file")
        switch (certificate, key) {
        case (nil, nil): break
        case (let certificate?, let key?):
            self.settings.tls = WebServer.TLSFiles(certificate: certificate, privateKey: key)
            for (file, name) in [(certificate, "certificate_file"), (key, "private_key_file")] {
                _ = self.read(file, ["gateway", name])
            }
        case (_?, nil): self.report(["gateway", "certificate_file"], "needs gateway.private_key_file beside it")
        case (nil, _?): self.report(["gateway", "private_key_file"], "needs gateway.certificate_file beside it")
        }
    }

    private mutating func readAPNs() {
        self.settings.apns.maxConnections = self.values.number("gateway", "apns_connections") ?? 4
        self.settings.apns.host = self.values.text("gateway", "apns_host")
        self.settings.apns.port = self.values.number("gateway", "apns_port").flatMap(UInt16.init(exactly:))
        self.settings.apns.caFile = self.values.text("gateway", "apns_ca_file")
        if let file = self.settings.apns.caFile { _ = self.read(file, ["gateway", "apns_ca_file"]) }
    }

    private mutating func readKey(_ name: String, _ line: Int?) {
        let path = ["access_keys", name]
        var secret = self.values.text("access_keys", name, "secret")
        if let file = self.values.text("access_keys", name, "secret_file") {
            if secret != nil, self.values.origin(of: path + ["secret"]) == .file {
                self.report(path + ["secret_file"], "stands beside secret; keep one of them")
            } else if secret == nil {
                guard let content = self.read(file, path + ["secret_file"]) else { return }
                secret = content.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
                if secret?.isEmpty ?? true {
                    self.report(path + ["secret_file"], "\(file) is empty; its first line is the secret")
                }
            }
        }
        guard let secret else {
            return self.report(path + ["secret"], "is missing; write it, or name a file that holds it with secret_file")
        }
        guard let id = self.values.text("access_keys", name, "id") else { return }
        let allow = self.values.text("access_keys", name, "allow") ?? "*"
        let policy = (try? PolicyText.parse(allow)) ?? .all
        var key = AccessKeySettings(name: name, id: id, secret: secret, policy: policy)
        if let rate = self.values.number("access_keys", name, "rate") {
            key.rate = try? RateLimit(rate: rate, bucketSize: self.values.number("access_keys", name, "bucket_size"))
        }
        self.settings.keys.append(key)
    }

    private mutating func checkKeys() {
        var names: [String: String] = [:]
        for key in self.settings.keys {
            if let other = names.updateValue(key.name, forKey: key.id) {
                self.report(["access_keys", key.name, "id"], "is the id of access_keys.\(other) as well")
            }
        }
        guard self.needs.contains(.gateway), self.names.isEmpty, !self.settings.allowsAnonymous else { return }
        self.problems.append(
            ConfigurationProblem(
                place: self.fileName,
                key: "access_keys",
                text: "names no key, so nobody could ask the gateway; add one with id and secret, or set "
                    + "gateway.anonymous to local-use-only"
            )
        )
    }

    mutating func read(_ file: String, _ path: [String]) -> String? {
        guard self.needs.contains(.gateway) else { return nil }
        do throws(ValueFault) {
            return try ConfigurationLoader.read(file)
        } catch {
            self.report(path, "\(file) \(error.phrase)")
            return nil
        }
    }

    mutating func report(
        _ path: [String],
        _ text: String,
        _ severity: ConfigurationProblem.Severity = .error
    ) {
        self.problems.append(self.values.problem(at: path, text, severity))
    }
}
