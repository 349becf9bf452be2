import Foundation
import TestServers
import Testing

@testable import Gateway

/// Platform applications whose credentials are a certificate and its key.
@Suite struct CertificateTests {
    private static func read(_ file: String) throws -> String { try String(contentsOfFile: file, encoding: .utf8) }

    private static func credentials(_ client: TestCertificates.Client) throws -> [String: String] {
        let certificates = TestCertificates.shared
        return [
            "PlatformPrincipal": try Self.read(certificates.certificate(client)),
            "PlatformCredential": try Self.read(certificates.key(client)),
        ]
    }

    private static func call(_ attributes: [String: String], _ others: [String: String]) -> [String: String] {
        var parameters = others
        for (index, attribute) in attributes.enumerated() {
            parameters["Attributes.entry.\(index + 1).key"] = attribute.key
            parameters["Attributes.entry.\(index + 1).value"] = attribute.value
        }
        return parameters
    }

    /// As openssl tells it: `2027-01-02 03:04:05Z`, with a T as the gateway writes it.
    private static func expiry(_ client: TestCertificates.Client) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/openssl")
        process.arguments = [
            "x509", "-noout", "-enddate", "-dateopt", "iso_8601", "-in", TestCertificates.shared.certificate(client),
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let text = String(decoding: data, as: UTF8.self).dropFirst("notAfter=".count)
        return text.prefix(19).replacingOccurrences(of: " ", with: "T")
    }

    @Test("a certificate's last moment is shown, changes with it, and goes with it; its key is never shown")
    func expiryDate() async throws {
        let test = try await TestGateway.start()
        let new = Self.call(try Self.credentials(.standard), ["Name": "Shop", "Platform": "APNS"])
        let made = try await test.call("CreatePlatformApplication", new)
        let arn = try #require(made.element("PlatformApplicationArn"), "\(made.text)")
        func shown() async throws -> String {
            let text = try await test.call("GetPlatformApplicationAttributes", ["PlatformApplicationArn": arn]).text
            #expect(!text.contains("PRIVATE KEY") && !text.contains("CERTIFICATE-----"))
            return text
        }
        func date(_ client: TestCertificates.Client) throws -> String {
            "<key>AppleCertificateExpiryDate</key><value>\(try Self.expiry(client))"
        }
        let first = try await shown()
        #expect(first.contains(try date(.standard)), "\(first)")
        #expect(first.contains("<key>AuthenticationMethod</key><value>certificate</value>"))
        #expect(try await test.call("ListPlatformApplications").text.contains(try date(.standard)))

        func set(_ attributes: [String: String]) async throws -> TestGateway.Answer {
            try await test.call(
                "SetPlatformApplicationAttributes",
                Self.call(attributes, ["PlatformApplicationArn": arn])
            )
        }
        #expect(try await set(Self.credentials(.soon)).status == 200)
        #expect(try await shown().contains(try date(.soon)))
        // Neither the other environment's, nor a key that belongs to another certificate; and nobody writes the date.
        var mixed = try Self.credentials(.standard)
        mixed["PlatformCredential"] = try Self.read(TestCertificates.shared.key(.renewed))
        for wrong in [try Self.credentials(.sandbox), mixed] {
            let refused = try await set(wrong)
            #expect(
                refused.element("Message") == "Invalid parameter: Attributes Reason: Platform credentials are invalid"
            )
        }
        _ = try await set(["AppleCertificateExpiryDate": "2099-01-01T00:00:00.000Z"])
        #expect(try await shown().contains(try date(.soon)))

        let key = [
            "PlatformPrincipal": "KEY1234567",
            "PlatformCredential": try Self.read(TestCertificates.shared.signingKey),
            "ApplePlatformTeamID": "TEAM123456", "ApplePlatformBundleID": "com.example.shop",
        ]
        #expect(try await set(key).status == 200)
        let last = try await shown()
        #expect(!last.contains("AppleCertificateExpiryDate"), "\(last)")
        #expect(last.contains("<key>AuthenticationMethod</key><value>token</value>"))
        await test.gateway.stop()
    }
}
