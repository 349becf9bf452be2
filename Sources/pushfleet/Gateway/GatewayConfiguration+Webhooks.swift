internal import Gateway
internal import SNS

extension GatewayConfiguration {
    /// How messages go to http subscribers.
    mutating func readWebhooks() {
        if let url = self.values.text("gateway", "url") {
            if WebhookURL(url) == nil || url.contains("?") {
                self.report(["gateway", "url"], "is not a URL such as https://sns.example.com")
            }
            self.settings.webhooks.url = url.hasSuffix("/") ? String(url.dropLast()) : url
        }
        let timeout = self.values.duration("gateway", "webhooks", "timeout")
        self.settings.webhooks.timeout = timeout ?? self.settings.webhooks.timeout
        let requests = self.values.number("gateway", "webhooks", "requests_per_host")
        self.settings.webhooks.requestsPerHost = requests ?? self.settings.webhooks.requestsPerHost
        self.settings.webhooks.caFile = self.values.text("gateway", "webhooks", "ca_file")
        if let file = self.settings.webhooks.caFile { _ = self.read(file, ["gateway", "webhooks", "ca_file"]) }
        if let list = self.values.text("gateway", "webhooks", "allow") {
            do throws(WebhookRules.Problem) {
                self.settings.webhooks.rules = try WebhookRules(parsing: list)
            } catch {
                self.report(["gateway", "webhooks", "allow"], error.phrase)
            }
        }
        self.readSigningKey()
    }

    private mutating func readSigningKey() {
        let certificate = self.values.text("gateway", "webhooks", "signing_certificate_file")
        let key = self.values.text("gateway", "webhooks", "signing_key_file")
        switch (certificate, key) {
        case (nil, nil): break
        case (let certificateFile?, let keyFile?):
            guard let certificate = self.read(certificateFile, ["gateway", "webhooks", "signing_certificate_file"]),
                let key = self.read(keyFile, ["gateway", "webhooks", "signing_key_file"])
            else { return }
            let pair = WebhookSettings.SigningPair(certificate: certificate, privateKey: key)
            if let problem = pair.problem {
                self.report(["gateway", "webhooks", "signing_key_file"], problem)
            }
            self.settings.webhooks.signing = pair
        case (_?, nil):
            self.report(
                ["gateway", "webhooks", "signing_certificate_file"],
                "needs gateway.webhooks.signing_key_file beside it"
            )
        case (nil, _?):
            self.report(
                ["gateway", "webhooks", "signing_key_file"],
                "needs gateway.webhooks.signing_certificate_file beside it"
            )
        }
    }
}
