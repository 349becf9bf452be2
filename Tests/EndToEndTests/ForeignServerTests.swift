import Broker
import Simulator
import TestServers
import Testing
import Worker

extension EndToEnd {
    /// The real worker against an HTTP/2 server that is not ours, in place of Apple's.
    @Suite struct ForeignServer {
        @Test func `Pushes that nghttpd takes are done, and one that it does not know is a dead letter`() async throws {
            let tokens = (1...200).map { Draft.token($0) }
            // It answers 200 for what it finds below its root.
            let files = Dictionary(uniqueKeysWithValues: tokens.map { ("/3/device/\($0)", "") })
            let server = try Nghttpd(["--verbose"], files: files)
            defer { server.stop() }
            try await Fleet.run { fleet in
                try await fleet.startWorker { $0.credentials[0].port = server.port }
                try await fleet.publish(Draft(tokens: tokens), messageID: "known")
                let unknown = Draft.token(7, prefix: "dead")
                try await fleet.publish(Draft(unknown), messageID: "unknown")
                let dead = try await fleet.takeOne(from: fleet.dead)
                #expect(dead.tokens == [unknown])
                #expect(dead.messageText == "unknown")
                try await eventually("nghttpd has answered every push") {
                    Self.count(":status: 200", in: server.log) >= tokens.count
                }
                try await fleet.expectNothingLeft()
                // What it printed of each request: every push came once, with Apple's headers.
                let log = server.log
                for token in tokens {
                    #expect(Self.count(":path: /3/device/\(token)", in: log) == 1)
                }
                #expect(Self.count(":path: /3/device/\(unknown)", in: log) == 1)
                #expect(Self.count(":method: POST", in: log) == tokens.count + 1)
                #expect(Self.count("apns-topic: \(Fleet.app)", in: log) == tokens.count + 1)
                #expect(try await fleet.simulator.summary().requests == 0)
            }
        }

        /// Headers received or sent, one on a line.
        private static func count(_ text: String, in log: String) -> Int {
            log.split(separator: "\n").count { $0.hasSuffix(text) }
        }
    }
}
