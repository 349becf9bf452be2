import SNS
import Testing

@Suite("URLs of subscribers")
struct WebhookURLTests {
    @Test(
        "a URL is taken apart",
        arguments: [
            ("http://a.example", "a.example", 80, "/"), ("https://A.Example/x?y=z", "a.example", 443, "/x?y=z"),
            ("HTTPS://a:8443?q", "a", 8443, "/?q"), ("http://[2001:db8::1]:81/x", "2001:db8::1", 81, "/x"),
            ("http://u:p@a/x@y", "a", 80, "/x@y"), ("http://10.0.0.1/", "10.0.0.1", 80, "/"),
        ]
    )
    func parts(text: String, host: String, port: Int, target: String) throws {
        let url = try #require(WebhookURL(text))
        #expect(url.host == host && url.port == port && url.target == target)
    }

    @Test(
        "what is no URL, or more than one reader could see in it, is refused",
        arguments: [
            "", "http://", "ftp://a/", "http:///x", "http://a:0/", "http://a:65536/", "http://a:/", "http://a b/",
            "http://a/#f", "http://a\\@b/", "http://[::1", "http://[10.0.0.1]/", "http://a%2eb/", "http://-a/",
            "http://é/",
            "http://a\n/", "http://a:1:2/", "javascript:alert(1)", "http://[::1]x/",
        ]
    )
    func refused(text: String) {
        #expect(WebhookURL(text) == nil)
    }

    @Test("a password is used and not shown")
    func password() throws {
        let url = try #require(WebhookURL("https://user:secret@a.example/x"))
        #expect(url.userInfo == "user:secret" && url.shown == "https://user:****@a.example/x")
        #expect(url.withoutUserInfo == "https://a.example:443/x")
    }
}
