import SNS

/// What an attempt throws; nil if it throws nothing.
func error(_ attempt: () throws -> some Any) -> SNSError? {
    do {
        _ = try attempt()
        return nil
    } catch {
        return error as? SNSError
    }
}

/// A form body of names and values, encoded as botocore does it.
func form(_ parameters: KeyValuePairs<String, String>) -> String {
    parameters.map { "\(escaped($0.key))=\(escaped($0.value))" }.joined(separator: "&")
}

func escaped(_ text: String) -> String {
    var escaped = ""
    for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
            UInt8(ascii: "~"):
            escaped.unicodeScalars.append(Unicode.Scalar(byte))
        case UInt8(ascii: " "): escaped += "+"
        default:
            let hex = String(byte, radix: 16, uppercase: true)
            escaped += "%" + (hex.utf8.count == 1 ? "0" : "") + hex
        }
    }
    return escaped
}

/// The action that a call is read as.
func action(_ name: String, _ parameters: KeyValuePairs<String, String>) throws -> Action {
    try Action(Parameters(body: "Action=\(name)&Version=2010-03-31&" + form(parameters)), region: "eu-west-1")
}

let application = ApplicationARN(region: "eu-west-1", account: "123456789012", platform: .apns, name: "MyApp")
let topic = TopicARN(region: "eu-west-1", account: "123456789012", name: "news")
let endpoint = EndpointARN(application: application, token: "aabb", slot: 0)
