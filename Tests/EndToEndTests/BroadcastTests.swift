import Broker
import Foundation
import Push
import Simulator
import TestServers
import Testing

extension EndToEnd {
    /// Messages to a channel instead of tokens.
    @Suite struct Broadcast {
        private static let channel = "dHN0LXNyY2gtY2hubA=="
        private static let payload = #"{ "aps":{"timestamp":1767220000,"event":"update","content-state":{"n":1.50}} }"#

        private static func body(
            _ channel: String = Self.channel,
            expiresAt: Int = 0,
            _ more: String = ""
        ) -> [UInt8] {
            let channel = channel.replacingOccurrences(of: "/", with: "\\/")
            let text =
                #"{"app":"\#(Fleet.app)","channel":"\#(channel)","expires_at":\#(expiresAt)\#(more),"#
                + #""payload":\#(Self.payload)}"#
            return Array(text.utf8)
        }

        private static func records(_ fleet: Fleet, of channel: String) async throws -> [LedgerRecord] {
            try await fleet.simulator.requests(LedgerFilter(channel: channel, limit: 10_000)).reversed()
        }

        @Test func `A message to a channel is one broadcast with Apple's headers`() async throws {
            try await Fleet.run { fleet in
                try await fleet.startWorker()
                let id = "a/b+c=="
                try await fleet.simulator.addChannel(Self.channel, storage: .none, bundleID: Fleet.app)
                try await fleet.simulator.addChannel(id, storage: .newest, bundleID: Fleet.app)
                try await fleet.publish(Self.body(), messageID: "goal-1")
                try await fleet.publish(
                    Self.body(id, expiresAt: 4_102_444_800, #","priority":5"#),
                    to: "\(Fleet.app).bulk",
                    messageID: "goal-2"
                )
                let token = Draft.token(1)
                try await fleet.publish(Draft(token), messageID: "beside")
                try await fleet.accepted(3)
                let first = try #require(try await Self.records(fleet, of: Self.channel).first)
                #expect(first.topic == Fleet.app && first.token.isEmpty)
                #expect(first.pushType == "liveactivity" && first.priority == 10 && first.expiration == 0)
                #expect(first.hasOwnID)
                #expect(first.apnsID == OneMessage.apnsID("goal-1", Self.channel))
                #expect(first.bodyBytes == Self.payload.utf8.count)
                let last = try await fleet.simulator.lastBroadcast(to: Self.channel, bundleID: Fleet.app)
                #expect(last?.body == Self.payload)
                let second = try #require(try await Self.records(fleet, of: id).first)
                #expect(second.priority == 5 && second.expiration == 4_102_444_800)
                #expect(second.apnsID == OneMessage.apnsID("goal-2", id))
                #expect(try await fleet.delivered(token).channel == nil)
                // One connection served both APIs.
                #expect(try await fleet.simulator.summary().connectionsOpened == 1)
                try await fleet.expectNothingLeft()
            }
        }

        @Test func `A channel that Apple does not know is a dead letter and a feedback event`() async throws {
            try await Fleet.run { fleet in
                try await fleet.startWorker()
                try await fleet.publish(Self.body(), messageID: "goal \"3\"")
                let letter = try await fleet.takeOne(from: fleet.dead)
                #expect(letter.reason == "channel_gone" && letter.field == "channel")
                #expect(letter.header("x-pushfleet-apns-reason") == "ChannelNotRegistered")
                #expect(letter.body == Self.body())
                #expect(letter.attempt == 1)
                let feedback = try await fleet.takeOne(from: fleet.feedback)
                #expect(feedback.routingKey == "\(Fleet.app).channel_gone")
                let json = try #require(feedback.json)
                #expect(json["channel"] as? String == Self.channel && json["token"] == nil)
                #expect(json["app"] as? String == Fleet.app)
                #expect(json["environment"] as? String == "production")
                #expect(json["reason"] as? String == "ChannelNotRegistered")
                #expect(json["message_id"] as? String == "goal \"3\"")
                try await fleet.expectNothingLeft()
            }
        }

        @Test func `An expiration for a channel without storage is Apple's to refuse`() async throws {
            try await Fleet.run { fleet in
                try await fleet.startWorker()
                try await fleet.simulator.addChannel(Self.channel, storage: .none, bundleID: Fleet.app)
                try await fleet.publish(Self.body(expiresAt: 4_102_444_800), messageID: "goal-4")
                let letter = try await fleet.takeOne(from: fleet.dead)
                #expect(letter.reason == "apns_rejected")
                #expect(letter.header("x-pushfleet-apns-reason") == "BadExpirationDate")
                try await fleet.expectNothingLeft()
            }
        }

        @Test func `What passes is tried again under the same id, and arrives`() async throws {
            try await Fleet.run { fleet in
                try await fleet.simulator.addChannel(Self.channel, storage: .none, bundleID: Fleet.app)
                try await fleet.answer(503, nil, body: #"{"reason":"Service Unavailable"}"#, limit: 2)
                try await fleet.startWorker()
                try await fleet.publish(Self.body(), messageID: "goal-5")
                try await fleet.accepted(1)
                let records = try await Self.records(fleet, of: Self.channel)
                #expect(records.map(\.status) == [503, 503, 200])
                #expect(Set(records.map(\.apnsID)).count == 1)
                try await fleet.expectNothingLeft()
            }
        }

        /// What means a dead or doubtful device in the other API must not reach token feedback from here.
        @Test(arguments: [(410, "Unregistered"), (410, "ExpiredToken"), (400, "BadDeviceToken"), (400, "BadPriority")])
        func `No answer to a broadcast makes a token gone`(status: Int, reason: String) async throws {
            try await Fleet.run { fleet in
                let body = #"{"reason":"\#(reason)","timestamp":1700000000123}"#
                try await fleet.simulator.addRule(
                    FaultRule(id: "odd", action: .answer(status: status, reason: nil, body: body))
                )
                try await fleet.startWorker()
                try await fleet.publish(Self.body(), messageID: "odd")
                let letter = try await fleet.takeOne(from: fleet.dead)
                #expect(letter.reason == "apns_rejected")
                #expect(letter.header("x-pushfleet-apns-reason") == reason)
                try await fleet.expectNothingLeft()
            }
        }

        @Test func `An app that may not broadcast keeps its broadcasts for later, and its other pushes go on`()
            async throws
        {
            try await Fleet.run { fleet in
                try await fleet.answer(400, "FeatureNotEnabled", limit: 1)
                try await fleet.startWorker()
                try await fleet.publish(Self.body(), messageID: "goal-6")
                let copy = try await fleet.takeOne(from: fleet.ladder.level(atLeast: .seconds(60)).queueName)
                #expect(copy.messageText == "goal-6" && copy.attempt == 0)
                #expect(copy.body == Self.body())
                let token = Draft.token(1)
                try await fleet.publish(Draft(token), messageID: "beside")
                _ = try await fleet.delivered(token)
                try await fleet.expectNothingLeft()
            }
        }

        @Test func `A provider token that Apple refuses pauses broadcasts too, and nothing is lost`() async throws {
            try await Fleet.run { fleet in
                try await fleet.simulator.addChannel(Self.channel, storage: .none, bundleID: Fleet.app)
                try await fleet.simulator.addRule(
                    FaultRule(id: "off", action: .answer(status: 403, reason: "InvalidProviderToken", body: nil))
                )
                try await fleet.startWorker()
                try await fleet.publish(Self.body(), messageID: "goal-7")
                try await eventually("it is answered and back in its queue") {
                    let asked = try await fleet.simulator.rules().first?.hits ?? 0
                    let waiting = try await fleet.depth("pushfleet.\(Fleet.app).now")
                    return asked > 0 && waiting == 1
                }
                try await fleet.simulator.removeRules()
                try await fleet.accepted(1)
                try await fleet.expectNothingLeft()
            }
        }
    }
}
