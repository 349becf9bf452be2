import Broker
import Foundation
import Push
import TestServers
import Testing

@testable import Gateway
@testable import Store

@Suite struct ScheduleTests {
    private static func attributes(_ time: Int64) -> [String: String] {
        [
            "MessageAttributes.entry.1.Name": "pushfleet.not_before",
            "MessageAttributes.entry.1.Value.DataType": "Number",
            "MessageAttributes.entry.1.Value.StringValue": "\(time)",
        ]
    }

    private static var now: Int64 { Int64(Date().timeIntervalSince1970) }

    @Test("a scheduled publish is cancelled once and for all, to a device, a topic and a user")
    func cancelled() async throws {
        let test = try await TestGateway.start()
        let application = try await test.makeApplication()
        let answer = try await test.call(
            "CreatePlatformEndpoint",
            ["PlatformApplicationArn": application, "Token": "aa01", "CustomUserData": "jo"]
        )
        let endpoint = try #require(answer.element("EndpointArn"))
        let topic = try await test.makeTopic("few", tokens: ["bb01", "bb02"])
        let session = try await test.session()
        let later = Self.attributes(Self.now + 3600)
        var ids: [String] = []
        for target in [["TargetArn": endpoint], ["TopicArn": topic]] {
            let answer = try await test.call("Publish", target.merging(later) { $1 }.merging(["Message": "x"]) { $1 })
            ids.append(try #require(answer.element("MessageId"), "\(answer.text)"))
        }
        let body = #"{"user":"jo","message":"x","attributes":{"pushfleet.not_before":"\#(Self.now + 3600)"}}"#
        let toUser = try await test.request("POST", "/pushfleet/publish", body: body)
        let json = try JSONSerialization.jsonObject(with: Data(toUser.text.utf8)) as? [String: Any]
        ids.append(try #require(json?["message_id"] as? String))
        let taken = try await test.take(tokens: 4, from: session)
        #expect(taken.map(\.schedule).compactMap { $0 }.sorted() == ids.sorted())
        for id in ids + ids {
            let answer = try await test.request("DELETE", "/pushfleet/messages/\(id)")
            #expect(answer.status == 200 && answer.text == #"{"message_id":"\#(id)","state":"cancelled"}"#)
        }
        await session.close()
        await test.gateway.stop()
    }

    @Test("cancelling says so when it is too late, when nothing is known, and when there is no such id")
    func refused() async throws {
        let test = try await TestGateway.start()
        let application = try await test.makeApplication()
        let endpoint = try await test.makeEndpoint("aa01", of: application)
        let parameters = ["TargetArn": endpoint, "Message": "x"]
        let later = Self.attributes(Self.now + 3600)
        let answer = try await test.call("Publish", parameters.merging(later) { $1 })
        let id = try #require(answer.element("MessageId"))
        let begun: Bool = await test.gateway.desk.ask { core, completion in
            core.redis.run(ScheduledPush.begin(id)) { completion((try? $0.get()) != nil) }
        }
        // The user of gateways may.
        #expect(begun)
        let late = try await test.request("DELETE", "/pushfleet/messages/\(id)")
        #expect(late.status == 409 && late.text.contains("InvalidState"))
        let plain = try await test.call("Publish", parameters)
        for id in [try #require(plain.element("MessageId")), UUID().uuidString.lowercased(), "nonsense", ""] {
            #expect(try await test.request("DELETE", "/pushfleet/messages/\(id)").status == 404)
        }
        let far = try await test.call(
            "Publish",
            parameters.merging(Self.attributes(Self.now + 31 * 24 * 3600)) { $1 }
        )
        #expect(far.status == 400 && far.text.contains("must be at most 30 days ahead"))
        await test.gateway.stop()
    }

    @Test("what an SDK may try again is marked: each publish of it differs, the message does not")
    func marked() async throws {
        let test = try await TestGateway.start()
        let application = try await test.makeApplication()
        let endpoint = try await test.makeEndpoint("aa01", of: application)
        let session = try await test.session()
        let parameters = ["TargetArn": endpoint, "Message": "x"]
        let id = ["amz-sdk-invocation-id": "11111111-2222-3333-4444-555555555555"]
        let first = try await test.call("Publish", parameters, headers: id)
        let again = try await test.call("Publish", parameters, headers: id)
        #expect(first.element("MessageId") == again.element("MessageId"))
        _ = try await test.call("Publish", parameters)
        let taken = try await test.take(tokens: 2, from: session)
        #expect(taken.map { $0.once != nil } == [true, false])
        await session.close()
        await test.gateway.stop()
    }
}
