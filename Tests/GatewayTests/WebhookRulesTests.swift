import Gateway
import Testing

@Suite struct WebhookRulesTests {
    @Test(
        "the standard rules are for the public internet",
        arguments: [
            ("93.184.216.34", true), ("2606:2800:220:1::1", true), ("127.0.0.1", false), ("10.1.2.3", false),
            ("172.31.255.255", false), ("172.32.0.1", true), ("192.168.0.1", false), ("169.254.169.254", false),
            ("100.64.0.1", false), ("0.0.0.0", false), ("224.0.0.1", false), ("255.255.255.255", false),
            ("::1", false), ("::", false), ("fe80::1", false), ("fe80::1%eth0", false), ("fc00::1", false),
            ("ff02::1", false), ("::ffff:127.0.0.1", false), ("64:ff9b::7f00:1", false), ("2002:7f00:1::", false),
            ("2001::1", false), ("not an address", false), ("", false),
        ]
    )
    func standard(address: String, isAllowed: Bool) {
        #expect(WebhookRules.standard.allows(host: "hooks.example.com", address: address) == isAllowed)
    }

    @Test(
        "a list allows what it names",
        arguments: [
            ("hooks.internal", "hooks.internal", "10.0.0.1", true),
            ("hooks.internal", "hooks.internal.", "10.0.0.1", true),
            ("hooks.internal", "other.internal", "10.0.0.1", false), ("*.internal", "a.internal", "10.0.0.1", true),
            ("*.internal", "a.b.internal", "10.0.0.1", true), ("*.internal", "internal", "10.0.0.1", false),
            ("*.internal", "xinternal", "10.0.0.1", false), ("10.0.0.0/8", "any", "10.9.9.9", true),
            ("10.0.0.0/8", "any", "11.0.0.1", false), ("10.0.0.1", "any", "10.0.0.1", true),
            ("::1", "any", "::1", true),
            ("public, 10.0.0.0/8", "any", "8.8.8.8", true), ("10.0.0.0/8", "any", "8.8.8.8", false),
            ("none", "any", "8.8.8.8", false), ("*.0.0.1", "127.0.0.1", "127.0.0.1", false),
        ]
    )
    func lists(list: String, host: String, address: String, isAllowed: Bool) throws {
        #expect(try WebhookRules(parsing: list).allows(host: host, address: address) == isAllowed)
    }

    @Test(
        "lists that say nothing are refused",
        arguments: ["", " , ", "*", "http://a", "10.0.0.0/33", "none, public", "a b/c"]
    )
    func refused(list: String) {
        #expect(throws: WebhookRules.Problem.self) { try WebhookRules(parsing: list) }
    }
}
