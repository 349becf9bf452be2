internal import Push

/// What a gateway's server and its loop share: how subscribers are reached, and what they are told about the gateway.
struct GatewayOutside: Sendable {
    let signer: EnvelopeSigner
    let sender: WebhookSender

    init(_ settings: GatewaySettings) {
        self.signer = EnvelopeSigner(url: settings.webhooks.url ?? "")
        self.sender = WebhookSender(settings.webhooks)
    }

    /// Without a configured URL, subscribers find the gateway where it listens.
    func listens(on port: Int, _ settings: GatewaySettings) {
        guard settings.webhooks.url == nil else { return }
        let host = settings.host.contains(":") ? "[\(settings.host)]" : settings.host
        self.signer.set(url: "\(settings.tls == nil ? "http" : "https")://\(host):\(port)")
    }
}
