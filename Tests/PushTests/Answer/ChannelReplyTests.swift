import Push
import Testing

@Suite("Answers of channel management")
struct ChannelReplyTests {
    @Test(
        "a list of channels",
        arguments: [
            (#"{"channels":["a=","b/c+"]}"#, ["a=", "b/c+"]), (#"{"channels":[]}"#, []),
            (#" { "more" : {"channels":1}, "channels" : [ "a\/b" ] } "#, ["a/b"]), (#"{"channels":[1]}"#, nil),
            (#"{"channels":{}}"#, nil), (#"{}"#, nil), ("", nil), ("[]", nil), (#"{"channels":["a"]"#, nil),
        ] as [(String, [String]?)]
    )
    func list(text: String, channels: [String]?) {
        #expect(Array(text.utf8).withUnsafeBytes { ChannelReply.channels($0) } == channels)
    }

    @Test(
        "what a channel stores",
        arguments: [
            (#"{"message-storage-policy":1,"push-type":"LiveActivity"}"#, .newest),
            (#"{"push-type":"LiveActivity","message-storage-policy":0}"#, .some(.none)),
            (#"{"message-storage-policy":2}"#, nil), (#"{"message-storage-policy":"1"}"#, nil), ("{}", nil), ("", nil),
        ] as [(String, ChannelStorage?)]
    )
    func storage(text: String, storage: ChannelStorage?) {
        #expect(Array(text.utf8).withUnsafeBytes { ChannelReply.storage($0) } == storage)
    }

    @Test("storage has the names that people type")
    func names() {
        #expect(ChannelStorage(name: "newest") == .newest && ChannelStorage(name: "none") == .some(.none))
        #expect(ChannelStorage(name: "Newest") == nil)
        #expect(ChannelStorage.allCases.map(\.rawValue) == [0, 1])
    }
}
