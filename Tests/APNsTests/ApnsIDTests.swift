import APNs
import Testing

@Suite struct ApnsIDTests {
    // Expected values: Python's uuid.uuid5 in the same namespace.
    @Test(arguments: [
        ("order-17", "ab12", "6645b0e4-3d87-5c7d-9c02-7ff25dff036e"),
        ("", "", "ac1b4a22-22d0-5c7a-ba84-3892c5eae836"),
    ])
    func `It is the version 5 UUID of message id and token`(message: String, token: String, expected: String) {
        #expect(ApnsID(messageID: message.utf8, token: token.utf8).string == expected)
    }

    @Test func `Message id and token are told apart`() {
        let one = ApnsID(messageID: "a".utf8, token: "bc".utf8)
        #expect(one == ApnsID(messageID: "a".utf8, token: "bc".utf8))
        #expect(one != ApnsID(messageID: "ab".utf8, token: "c".utf8))
    }
}
