import SNS
import Testing

@Suite("Message attributes")
struct MessageAttributesTests {
    static func attributes(_ parameters: KeyValuePairs<String, String>) throws -> MessageAttributes {
        try MessageAttributes(try Parameters(body: form(parameters)))
    }

    /// One attribute.
    static func attribute(_ name: String, _ type: String?, _ field: String = "StringValue", _ value: String? = "v")
        throws
        -> MessageAttributes
    {
        var body = "MessageAttributes.entry.1.Name=\(escaped(name))"
        if let type { body += "&MessageAttributes.entry.1.Value.DataType=\(escaped(type))" }
        if let value { body += "&MessageAttributes.entry.1.Value.\(field)=\(escaped(value))" }
        return try MessageAttributes(try Parameters(body: body))
    }

    @Test("attributes of every type are read, in the order of their indices")
    func types() throws {
        let attributes = try Self.attributes([
            "MessageAttributes.entry.2.Name": "b", "MessageAttributes.entry.2.Value.DataType": "Number",
            "MessageAttributes.entry.2.Value.StringValue": "60", "MessageAttributes.entry.1.Name": "a",
            "MessageAttributes.entry.1.Value.DataType": "Binary.gif",
            "MessageAttributes.entry.1.Value.BinaryValue": "AAH/",
        ])
        #expect(attributes.all.map(\.name) == ["a", "b"])
        #expect(attributes["a"] == .init(dataType: "Binary.gif", content: .binary([0, 1, 255])))
        #expect(attributes["b"] == .init(dataType: "Number", content: .text("60")))
        #expect(attributes["c"] == nil)
        #expect(attributes.size == 1 + 10 + 3 + 1 + 6 + 2)
        #expect(try Self.attributes([:]).all.isEmpty)
    }

    @Test(
        "base64 has one text for its bytes",
        arguments: [("", nil), ("QQ==", [0x41]), ("QUI=", [0x41, 0x42]), ("QUJD", [0x41, 0x42, 0x43])]
            + ["QQ=", "QQ", "QR==", "QUJ=", "Q===", "====", "QU-D", "QUJD\n", "Q=JD"].map { ($0, nil) }
            as [(String, [UInt8]?)]
    )
    func base64(_ text: String, _ bytes: [UInt8]?) {
        let attributes = try? Self.attribute("a", "Binary", "BinaryValue", text)
        #expect(attributes?["a"]?.content == bytes.map { .binary($0) })
    }

    static let type =
        "has an invalid message attribute type, the set of supported type prefixes is Binary, Number, and String."

    @Test(
        "attributes that are refused, in Amazon's words",
        arguments: [
            (
                "a", "String", "StringValue", "",
                "The message attribute 'a' must contain non-empty message attribute value for message attribute type 'String'."
            ),
            (
                "a", "String", "StringValue", nil,
                "The message attribute 'a' must contain non-empty message attribute value for message attribute type 'String'."
            ),
            (
                "a", "Binary", "BinaryValue", "",
                "The message attribute 'a' must contain non-empty message attribute value for message attribute type 'Binary'."
            ),
            (
                "a", "Number", "BinaryValue", "QQ==",
                "The message attribute 'a' with type 'Number' must use field 'String'."
            ),
            (
                "a", "Binary", "StringValue", "x",
                "The message attribute 'a' with type 'Binary' must use field 'Binary'."
            ),
            ("a", "Number", "StringValue", "x", "Could not cast message attribute 'a' value to number."),
            ("a", "Number", "StringValue", "inf", "Could not cast message attribute 'a' value to number."),
            ("a", "Foo", "StringValue", "x", "The message attribute 'a' \(Self.type)"),
            ("a", "", "StringValue", "x", "The message attribute 'a' \(Self.type)"),
            ("a", "String.", "StringValue", "x", "The message attribute 'a' \(Self.type)"),
            ("a", "Stringy", "StringValue", "x", "The message attribute 'a' \(Self.type)"),
            (
                String(repeating: "n", count: 256), "String", "StringValue", "x",
                "Length of message attribute name must be less than 256 bytes."
            ),
            (
                "a^b", "String", "StringValue", "x",
                "Invalid non-alphanumeric character '#x5E' was found in the message attribute name. Can only include alphanumeric characters, hyphens, underscores, or dots."
            ),
            (
                "é", "String", "StringValue", "x",
                "Invalid non-alphanumeric character '#xE9' was found in the message attribute name. Can only include alphanumeric characters, hyphens, underscores, or dots."
            ),
            (
                ".a", "String", "StringValue", "x",
                "Invalid message attribute name starting with character '.' was found."
            ),
            ("a.", "String", "StringValue", "x", "Invalid message attribute name ending with character '.' was found."),
            ("a..b", "String", "StringValue", "x", "Message attribute name can not have successive '.' character."),
        ] as [(String, String, String, String?, String)]
    )
    func refused(_ name: String, _ type: String, _ field: String, _ value: String?, _ text: String) {
        #expect(
            error { try Self.attribute(name, type, field, value) } == SNSError("ParameterValueInvalid", text)
        )
    }

    @Test("an attribute without a type is a missing member, whose place a batch names")
    func missing() throws {
        #expect(error { try Self.attribute("n", nil) } == .null("messageAttributes.n.member.dataType"))
        let body = "MessageAttributes.entry.1.Name=n&MessageAttributes.entry.1.Value.StringValue=x"
        #expect(
            error {
                try MessageAttributes(
                    try Parameters(body: body),
                    place: "publishBatchRequestEntries.1.member."
                )
            }?.message
                == "1 validation error detected: Value null at "
                + "'publishBatchRequestEntries.1.member.messageAttributes.n.member.dataType' failed to satisfy constraint: "
                + "Member must not be null"
        )
    }

    @Test("names twice, and members that there are not, are refused")
    func structure() {
        #expect(
            error {
                try Self.attributes([
                    "MessageAttributes.entry.1.Name": "a", "MessageAttributes.entry.1.Value.DataType": "String",
                    "MessageAttributes.entry.1.Value.StringValue": "x", "MessageAttributes.entry.2.Name": "a",
                    "MessageAttributes.entry.2.Value.DataType": "String",
                    "MessageAttributes.entry.2.Value.StringValue": "x",
                ])
            }?.code == "MalformedInput"
        )
        #expect(error { try Self.attributes(["MessageAttributes.entry.1.key": "a"]) }?.code == "InvalidQueryParameter")
        #expect(error { try Self.attributes(["MessageAttributes.entry.1.Value": "a"]) } != nil)
    }
}
