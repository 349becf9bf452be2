internal import Dashboard
internal import Foundation
internal import Testing
internal import WebServer

@testable import pushfleet

@Suite struct DashboardConfigurationTests {
    private static let tokens = "lena actor 0123456789abcdef\n"

    private func load(_ text: String, tokens: String = Self.tokens) throws -> LoadedConfiguration {
        let folder = try TestFolder()
        let file = try folder.write("tokens", tokens)
        let configuration = try folder.write("c.yaml", text.replacing("TOKENS", with: file))
        return ConfigurationLoader(environment: [:]).load(option: configuration, needs: .dashboard)
    }

    /// What it has to say of the dashboard: that the file names no app is right for one.
    private static func concerns(_ loaded: LoadedConfiguration) -> [String] {
        loaded.problems.compactMap(\.key).filter { $0 != "apps" }
    }

    @Test("all of it is read")
    func whole() throws {
        let loaded = try self.load(
            """
            dashboard:
              host: ::1
              port: 0
              tokens_file: TOKENS
              fleet: test
              proxy_header: X-Forwarded-User
              proxy_addresses: 10.0.0.0/8, ::1
              proxy_actors: lena tim
              request_timeout: 5s
              drain_timeout: 1s
            """
        )
        #expect(Self.concerns(loaded) == [])
        let settings = loaded.dashboard
        #expect(settings.host == "::1" && settings.port == 0 && settings.fleet == "test")
        #expect(settings.tokens.users.map(\.name) == ["lena"])
        #expect(settings.requestTimeout == .seconds(5) && settings.drainTimeout == .seconds(1))
        let blocks = try AddressBlocks(parsing: "10.0.0.0/8, ::1")
        #expect(
            settings.proxy == ProxyLogin(header: "x-forwarded-user", addresses: blocks, actors: ["lena", "tim"])
        )
        #expect(loaded.tokensFile?.hasSuffix("tokens") == true)
    }

    @Test(
        "errors name the key and the fix",
        arguments: [
            ("dashboard: { port: 1 }", "dashboard.tokens_file", "is missing, so nobody could log in"),
            ("dashboard: { tokens_file: /no/such }", "dashboard.tokens_file", "no such file"),
            ("dashboard: { port: 70000, tokens_file: TOKENS }", "dashboard.port", "70000"),
            (
                "dashboard: { tokens_file: TOKENS, certificate_file: /etc/hostname }", "dashboard.certificate_file",
                "private_key_file"
            ),
            (
                "dashboard: { tokens_file: TOKENS, private_key_file: /etc/hostname }", "dashboard.private_key_file",
                "certificate_file"
            ),
            (
                "dashboard: { tokens_file: TOKENS, proxy_actors: lena }", "dashboard.proxy_actors",
                "dashboard.proxy_header"
            ),
            ("dashboard: { proxy_header: X-User }", "dashboard.proxy_addresses", "anybody could send"),
            (
                "dashboard: { proxy_header: \"X User\", proxy_addresses: 10.0.0.7 }", "dashboard.proxy_header",
                "X-Forwarded-User"
            ),
            (
                "dashboard: { proxy_header: X-User, proxy_addresses: proxy.example.com }", "dashboard.proxy_addresses",
                "10.0.0.7"
            ),
            ("dashboard: { token_file: TOKENS }", "dashboard.token_file", "tokens_file"),
        ]
    )
    func errors(text: String, key: String, phrase: String) throws {
        let errors = try self.load(text).errors
        #expect(errors.contains { $0.key == key && $0.text.contains(phrase) }, "\(errors)")
    }

    @Test(
        "what is wrong in the file of tokens is told with its line, and no token",
        arguments: [
            ("", "names nobody"), ("lena admin 0123456789abcdef", "line 1"), ("#\nlena actor 0123456", "line 2"),
        ]
    )
    func tokens(text: String, phrase: String) throws {
        let errors = try self.load("dashboard: { tokens_file: TOKENS }", tokens: text).errors
        #expect(errors.contains { $0.key == "dashboard.tokens_file" && $0.text.contains(phrase) }, "\(errors)")
        #expect(!errors.contains { "\($0)".contains("0123456") })
    }

    @Test("tokens in the clear beyond this machine are doubtful")
    func openHost() throws {
        let open = try self.load("dashboard: { host: 0.0.0.0, tokens_file: TOKENS }")
        #expect(open.errors == [] && Self.concerns(open) == ["dashboard.host"])
        let local = try self.load("dashboard: { tokens_file: TOKENS }")
        #expect(Self.concerns(local) == [])
    }
}
