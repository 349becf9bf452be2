import Foundation
import TestServers
import Testing

@testable import Gateway

/// What goes beyond Amazon's registration, where the operator wants it.
@Suite struct RegistrationModeTests {
    private static func register(_ user: String?, _ application: String, _ test: TestGateway) async throws
        -> TestGateway.Answer
    {
        var parameters = ["PlatformApplicationArn": application, "Token": "aa01"]
        parameters["CustomUserData"] = user
        return try await test.call("CreatePlatformEndpoint", parameters)
    }

    private static func set(_ endpoint: String, _ name: String, _ value: String, _ test: TestGateway) async throws {
        let answer = try await test.call(
            "SetEndpointAttributes",
            ["EndpointArn": endpoint, "Attributes.entry.1.key": name, "Attributes.entry.1.value": value]
        )
        #expect(answer.status == 200)
    }

    @Test(
        "registering again is refused as Amazon does, or changes the endpoint and enables it",
        arguments: [false, true]
    )
    func upsert(isOn: Bool) async throws {
        let test = try await TestGateway.start { $0.upserts = isOn }
        let application = try await test.makeApplication()
        let endpoint = try #require(try await Self.register("jo", application, test).element("EndpointArn"))
        try await Self.set(endpoint, "Enabled", "false", test)
        let again = try await Self.register("al", application, test)
        #expect(again.status == (isOn ? 200 : 400))
        #expect(again.text.contains("already exists with the same Token, but different attributes.") == !isOn)
        #expect(try await Self.register(isOn ? nil : "jo", application, test).element("EndpointArn") == endpoint)
        let found = try await test.call("GetEndpointAttributes", ["EndpointArn": endpoint]).text
        #expect(found.contains("<key>Enabled</key><value>\(isOn)</value>"))
        #expect(found.contains("<key>CustomUserData</key><value>\(isOn ? "al" : "jo")</value>"))
        await test.gateway.stop()
    }

    @Test(
        "a fourth endpoint of one token is refused as Amazon does, or gets an id of its own",
        arguments: [true, false]
    )
    func limit(isOn: Bool) async throws {
        let test = try await TestGateway.start { $0.limitsSlots = isOn }
        let application = try await test.makeApplication()
        var endpoints = Set<String>()
        for number in 0..<5 {
            let answer = try await Self.register(nil, application, test)
            guard number < 3 || !isOn else {
                #expect(answer.text.contains("This endpoint is already registered with a different token."))
                continue
            }
            let endpoint = try #require(answer.element("EndpointArn"), "\(answer.text)")
            endpoints.insert(endpoint)
            // It is found by its token, wherever it lies.
            #expect(try await Self.register(nil, application, test).element("EndpointArn") == endpoint)
            try await Self.set(endpoint, "Token", "bb0\(number)", test)
        }
        #expect(endpoints.count == (isOn ? 3 : 5))
        await test.gateway.stop()
    }
}
