import Push
import Testing

@testable import APNs

@Suite("Channel management")
struct ChannelOrderTests {
    static func outcome(
        _ order: ChannelOrder,
        _ status: Int,
        channel: String? = nil,
        _ body: String = ""
    ) -> Result<ChannelAnswer, ChannelFailure> {
        Array(body.utf8).withUnsafeBytes { body in
            guard let channel else { return order.outcome(status: status, channel: nil, body: body) }
            return Array(channel.utf8).withUnsafeBytes { order.outcome(status: status, channel: $0, body: body) }
        }
    }

    @Test("requests are those of Apple's page")
    func requests() {
        #expect(ChannelOrder.create(.newest).path(bundleID: "a.b") == "/1/apps/a.b/channels")
        #expect(ChannelOrder.list.path(bundleID: "a.b") == "/1/apps/a.b/all-channels")
        #expect(ChannelOrder.delete("x").path(bundleID: "a.b") == "/1/apps/a.b/channels")
        #expect("\(ChannelOrder.create(.none).method) \(ChannelOrder.read("x").method)" == "POST GET")
        #expect("\(ChannelOrder.delete("x").method) \(ChannelOrder.list.method)" == "DELETE GET")
        #expect(ChannelOrder.delete("x").channel == "x" && ChannelOrder.list.channel == nil)
        #expect(
            String(decoding: ChannelOrder.create(.newest).body, as: UTF8.self)
                == #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#
        )
        #expect(ChannelOrder.read("x").body.isEmpty)
    }

    @Test("good answers")
    func good() {
        #expect(Self.outcome(.create(.none), 201, channel: "abc=") == .success(.created("abc=")))
        #expect(
            Self.outcome(.read("x"), 200, #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
                == .success(.found(.newest))
        )
        #expect(Self.outcome(.delete("x"), 204) == .success(.deleted))
        #expect(Self.outcome(.list, 200, #"{"channels":["a"]}"#) == .success(.channels(["a"])))
    }

    @Test("a yes that cannot be read is no success")
    func unreadable() {
        #expect(Self.outcome(.create(.none), 201) == .failure(.unreadable(status: 201)))
        #expect(Self.outcome(.read("x"), 200, "hello") == .failure(.unreadable(status: 200)))
        #expect(Self.outcome(.list, 200, "{}") == .failure(.unreadable(status: 200)))
    }

    @Test("an unknown channel is told in two ways for a deletion, and in one otherwise")
    func unknown() {
        let unknown = #"{"reason":"ChannelNotRegistered"}"#
        let badPath = #"{"reason":"BadPath"}"#
        #expect(Self.outcome(.delete("x"), 400, unknown) == .failure(.unknownChannel))
        #expect(Self.outcome(.delete("x"), 404, badPath) == .failure(.unknownChannel))
        #expect(Self.outcome(.read("x"), 400, unknown) == .failure(.unknownChannel))
        let reason = ApnsReason("BadPath".utf8)
        #expect(Self.outcome(.read("x"), 404, badPath) == .failure(.refused(status: 404, reason: reason)))
        #expect(Self.outcome(.list, 404, "<html>") == .failure(.refused(status: 404, reason: nil)))
    }

    @Test("any other refusal comes in Apple's words")
    func refused() {
        let reason = ApnsReason("CannotCreateChannelConfig".utf8)
        let body = #"{"reason":"CannotCreateChannelConfig"}"#
        let failure = ChannelFailure.refused(status: 400, reason: reason)
        #expect(Self.outcome(.create(.none), 400, body) == .failure(failure))
        #expect(failure.description.contains("400 CannotCreateChannelConfig"))
    }
}
