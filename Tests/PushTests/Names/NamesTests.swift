import Push
import Testing

@Suite("Names and small texts")
struct NamesTests {
    @Test(
        "app names that are fine",
        arguments: ["a", "A9", "com.example.shop", "a-b_c.d", String(repeating: "x", count: 128)]
    )
    func goodApps(name: String) {
        #expect(AppID(name)?.name == name)
    }

    @Test(
        "app names that are not",
        arguments: ["", ".a", "-a", "_a", "a b", "a/b", "a\n", "é", "a*", "a#", String(repeating: "x", count: 129)]
    )
    func badApps(name: String) {
        #expect(AppID(name) == nil)
    }

    @Test("hexadecimal is found digit by digit, at every place of a word")
    func hex() {
        for byte in UInt8.min ... .max {
            let isDigit = "0123456789abcdefABCDEF".utf8.contains(byte)
            #expect((Hex.value(byte) != nil) == isDigit)
            for length in 1...17 {
                for place in 0..<length {
                    var bytes = [UInt8](repeating: UInt8(ascii: "f"), count: length)
                    bytes[place] = byte
                    let found = bytes.withUnsafeBytes { Hex.prefixLength($0) }
                    #expect(found == (isDigit ? length : place))
                }
            }
        }
        #expect(Hex.value(UInt8(ascii: "a")) == 10 && Hex.value(UInt8(ascii: "F")) == 15)
    }

    @Test(
        "tokens are even, hexadecimal and 2 to 400 digits",
        arguments: [
            ("", false), ("a", false), ("aB", true), ("abc", false), ("ag", false),
            (String(repeating: "0", count: 400), true), (String(repeating: "0", count: 402), false),
        ]
    )
    func tokens(text: String, isValid: Bool) {
        #expect(Array(text.utf8).withUnsafeBytes { DeviceToken.isValid($0) } == isValid)
    }

    @Test(
        "a token is shown by its ends only",
        arguments: [
            ("740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad", "740f…78ad"),
            ("0123456789abcdef", "0123…cdef"),
            ("0123456789abcd", "…(14)"), ("aa", "…(2)"),
        ]
    )
    func redaction(token: String, shown: String) {
        #expect(DeviceToken.redacted(token) == shown)
    }

    @Test(
        "foreign text is quoted so that a terminal stays calm",
        arguments: [
            ("plain", "\"plain\""), ("a\"b\\", "\"a\\\"b\\\\\""), ("\u{1B}[31m\n", "\"\\u{1b}[31m\\u{a}\""),
            ("é", "\"\\u{e9}\""),
            ("0123456789abcdef", "\"0123…cdef\""),
            (String(repeating: "x", count: 50), "\"" + String(repeating: "x", count: 40) + "...\""),
        ]
    )
    func quoting(text: String, quoted: String) {
        #expect(Quoted.text(Array(text.utf8)) == quoted)
    }

    @Test(
        "edit distance",
        arguments: [
            ("", "", 0), ("a", "", 1), ("kitten", "sitting", 3), ("token", "tokens", 1), ("ab", "ba", 2),
            ("same", "same", 0),
        ]
    )
    func distance(left: String, right: String, distance: Int) {
        #expect(EditDistance.between(Array(left.utf8), Array(right.utf8)) == distance)
        #expect(EditDistance.between(Array(right.utf8), Array(left.utf8)) == distance)
    }

    @Test("suggests only what is near")
    func nearest() {
        let names = ["app", "topic", "tokens"]
        #expect(EditDistance.nearest(to: "Topics".utf8, among: names) == "topic")
        #expect(EditDistance.nearest(to: "ap".utf8, among: names) == "app")
        #expect(EditDistance.nearest(to: "x".utf8, among: ["ab"]) == nil)
        #expect(EditDistance.nearest(to: "payload".utf8, among: names) == nil)
    }

    @Test(
        "the topic follows bundle id and push type",
        arguments: [
            (PushType.alert, "com.example.shop"), (.background, "com.example.shop"),
            (.location, "com.example.shop.location-query"),
            (.voip, "com.example.shop.voip"), (.complication, "com.example.shop.complication"),
            (.fileprovider, "com.example.shop.pushkit.fileprovider"), (.mdm, "com.example.shop"),
            (.liveactivity, "com.example.shop.push-type.liveactivity"), (.pushtotalk, "com.example.shop.voip-ptt"),
            (.widgets, "com.example.shop.push-type.widgets"), (.controls, "com.example.shop.push-type.controls"),
        ]
    )
    func topics(type: PushType, topic: String) {
        #expect(Topic.derive(bundleID: "com.example.shop", pushType: type) == topic)
        #expect(Topic.isValid(topic))
    }

    @Test("there are eleven push types and two lanes")
    func closedSets() {
        #expect(PushType.allCases.count == 11)
        #expect(Lane.allCases.map(\.rawValue) == ["now", "bulk"])
        #expect(Priority.allCases.map(\.rawValue) == [1, 5, 10])
    }
}
