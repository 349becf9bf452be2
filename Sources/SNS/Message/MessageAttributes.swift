/// Attributes of a message: for filters, and for headers of the push. They never reach the device.
package struct MessageAttributes: Equatable, Sendable {
    package struct Value: Equatable, Sendable {
        /// `String`, `Number`, `Binary`, `String.Array`, or one of the first three with a dot and a label.
        package let dataType: String

        package let content: Content

        package init(dataType: String, content: Content) {
            self.dataType = dataType
            self.content = content
        }
    }

    package enum Content: Equatable, Sendable {
        /// Also of a number.
        case text(String)
        case binary([UInt8])
    }

    /// In the order of the request.
    package private(set) var all: [(name: String, value: Value)] = []

    /// Bytes of names, types and values.
    package private(set) var size = 0

    package init() {}

    package subscript(name: String) -> Value? { self.all.first { $0.name == name }?.value }

    package mutating func append(_ name: String, _ value: Value) {
        self.all.append((name, value))
        self.size += name.utf8.count + value.dataType.utf8.count
        switch value.content {
        case .text(let text): self.size += text.utf8.count
        case .binary(let bytes): self.size += bytes.count
        }
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.all.elementsEqual(right.all) { $0.name == $1.name && $0.value == $1.value }
    }
}

extension MessageAttributes {
    /// Reads and checks `MessageAttributes.entry.N.Name` with `.Value.DataType`, `.StringValue` and `.BinaryValue`.
    ///
    /// - Parameter place: where a batch's entry stands, for errors: `publishBatchRequestEntries.1.member.`.
    /// - Throws: `ParameterValueInvalid`, or `ValidationError` for one without a type.
    package init(_ parameters: Parameters, place: String = "") throws(SNSError) {
        self.init()
        var names = Set<String>()
        for entry in try parameters.entries("MessageAttributes") ?? [] {
            try entry.allow(["Name", "Value"])
            guard let name = try entry.text("Name") else { throw .null("\(place)messageAttributes.entry.name") }
            try MessageAttributeName.check(name)
            guard names.insert(name).inserted else {
                throw .malformedInput("A map has the same key more than once.")
            }
            let value = try Self.value(name, try entry.structure("Value"), place: place)
            self.append(name, value)
        }
    }

    private static func value(
        _ name: String,
        _ parameters: Parameters?,
        place: String
    ) throws(SNSError) -> Value {
        try parameters?.allow(["DataType", "StringValue", "BinaryValue"])
        guard let dataType = try parameters?.text("DataType") else {
            throw .null("\(place)messageAttributes.\(name).member.dataType")
        }
        let prefix = dataType.prefix { $0 != "." }
        guard ["String", "Number", "Binary"].contains(prefix), !dataType.hasSuffix("."), dataType.utf8.count <= 256
        else {
            throw .invalidValue(
                "The message attribute '\(name)' has an invalid message attribute type, the set of supported type prefixes "
                    + "is Binary, Number, and String."
            )
        }
        let empty = SNSError.invalidValue(
            "The message attribute '\(name)' must contain non-empty message attribute value for message attribute type "
                + "'\(dataType)'."
        )
        let text = try parameters?.text("StringValue")
        let base64 = try parameters?.text("BinaryValue")
        guard text != nil || base64 != nil else { throw empty }
        let isBinary = prefix == "Binary"
        guard let written = isBinary ? base64 : text else {
            throw .invalidValue(
                "The message attribute '\(name)' with type '\(dataType)' must use field '\(isBinary ? "Binary" : "String")'."
            )
        }
        guard !written.isEmpty else { throw empty }
        guard isBinary else {
            guard prefix != "Number" || JSONTree.number(written) != nil else {
                throw .invalidValue("Could not cast message attribute '\(name)' value to number.")
            }
            return Value(dataType: dataType, content: .text(written))
        }
        guard let bytes = Base64.decode(written) else {
            throw .malformedInput("The BinaryValue of the message attribute '\(name)' is not base64.")
        }
        return Value(dataType: dataType, content: .binary(bytes))
    }
}

/// What a message attribute may be called.
enum MessageAttributeName {
    static func check(_ name: String) throws(SNSError) {
        guard name.utf8.count < 256 else {
            throw .invalidValue("Length of message attribute name must be less than 256 bytes.")
        }
        guard !name.isEmpty else { throw .invalidValue("Message attribute name can not be empty.") }
        for scalar in name.unicodeScalars {
            guard scalar.isASCII, ARN.isDotted(UInt8(scalar.value)) else {
                throw .invalidValue(
                    "Invalid non-alphanumeric character '#x\(String(scalar.value, radix: 16, uppercase: true))' was found in "
                        + "the message attribute name. Can only include alphanumeric characters, hyphens, underscores, or dots."
                )
            }
        }
        guard !name.hasPrefix(".") else {
            throw .invalidValue("Invalid message attribute name starting with character '.' was found.")
        }
        guard !name.hasSuffix(".") else {
            throw .invalidValue("Invalid message attribute name ending with character '.' was found.")
        }
        var last: UInt8 = 0
        for byte in name.utf8 {
            guard byte != UInt8(ascii: ".") || last != byte else {
                throw .invalidValue("Message attribute name can not have successive '.' character.")
            }
            last = byte
        }
    }
}
