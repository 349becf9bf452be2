import Push
import SNS
import TestRandom
import Testing

/// Inputs at random from a seed: nothing may crash, and nothing may take long.
@Suite("Hostile input to the SNS protocol")
struct FuzzTests {
    static let bodies = [
        "Action=CreatePlatformEndpoint&Version=2010-03-31&PlatformApplicationArn=arn%3Aaws%3Asns%3Aeu-west-1%3A123456789012"
            + "%3Aapp%2FAPNS%2FMyApp&Token=aabb&CustomUserData=u+1%2B%C3%A9&Attributes.entry.1.key=Enabled"
            + "&Attributes.entry.1.value=true",
        "Action=Publish&TargetArn=arn%3Aaws%3Asns%3Aeu-west-1%3A123456789012%3At&Message=%7B%22APNS%22%3A%22%7B%7D%22%7D"
            + "&MessageStructure=json&MessageAttributes.entry.1.Name=AWS.SNS.MOBILE.APNS.TTL"
            + "&MessageAttributes.entry.1.Value.DataType=Number&MessageAttributes.entry.1.Value.StringValue=60",
        "Action=PublishBatch&TopicArn=arn:aws:sns:eu-west-1:123456789012:t&PublishBatchRequestEntries.member.1.Id=a"
            + "&PublishBatchRequestEntries.member.1.Message=m&PublishBatchRequestEntries.member.2.Id=b"
            + "&PublishBatchRequestEntries.member.2.Message=m"
            + "&PublishBatchRequestEntries.member.2.MessageAttributes.entry.1.Name=n"
            + "&PublishBatchRequestEntries.member.2.MessageAttributes.entry.1.Value.DataType=Binary"
            + "&PublishBatchRequestEntries.member.2.MessageAttributes.entry.1.Value.BinaryValue=QQ==",
        "Action=Subscribe&TopicArn=arn:aws:sns:eu-west-1:123456789012:t&Protocol=application&Endpoint=x"
            + "&Attributes.entry.1.key=FilterPolicy&Attributes.entry.1.value=%7B%7D",
        "Action=UntagResource&ResourceArn=arn:aws:sns:eu-west-1:123456789012:t&TagKeys=",
    ].map { Array($0.utf8) }

    static let pieces = [
        "&", "=", ".", "%", "+", ".member.1", ".entry.2.key", "%00", "%ff", "é", "9999999999", ":", "/", "{",
    ]
    .map { Array($0.utf8) }

    static func mutated(_ bytes: [UInt8], _ pieces: [[UInt8]], _ random: inout SeededRandom) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let at = Int.random(in: 0...bytes.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes.insert(contentsOf: pieces.randomElement(using: &random)!, at: at)
            case 1: if at < bytes.count { bytes[at] = UInt8.random(in: 0...255, using: &random) }
            case 2: bytes.removeSubrange(at..<min(at + Int.random(in: 1...20, using: &random), bytes.count))
            default:
                let end = min(at + Int.random(in: 1...40, using: &random), bytes.count)
                bytes.insert(contentsOf: bytes[at..<end], at: Int.random(in: 0...bytes.count, using: &random))
            }
        }
        return bytes
    }

    @Test("bodies with faults become an action or an error that XML can carry", arguments: 0..<8)
    func parameters(_ seed: Int) {
        var random = SeededRandom(spreading: UInt64(seed))
        var counts = (good: 0, bad: 0)
        for _ in 0..<300 {
            let body = Self.mutated(Self.bodies.randomElement(using: &random)!, Self.pieces, &random)
            do throws(SNSError) {
                let action = try Action(try Parameters(query: [], body: body), region: "eu-west-1")
                Self.finish(action)
                counts.good += 1
            } catch {
                let xml = error.body(requestID: UUID(hashing: ""))
                #expect(xml.allSatisfy { $0 >= 0x20 || $0 == 0x0A || $0 == 0x09 })
                counts.bad += 1
            }
        }
        #expect(counts.good > 10 && counts.bad > 10)
    }

    /// What is checked only after a look at the state.
    static func finish(_ action: Action) {
        switch action {
        case .createPlatformEndpoint(let call): _ = try? call.registration()
        case .subscribe(let call):
            _ = try? call.destination()
            _ = try? call.attributes()
        case .publish(let call):
            guard let attributes = try? PushAttributes(call.message.attributes, platform: .apns),
                let body = try? MessageBody(call.message),
                let push = try? PlatformPush(body, attributes, platform: .apns)
            else { return }
            let envelope = push.envelope(
                app: application.appID,
                tokens: ["aabb"],
                now: UnixTime(seconds: 1_767_323_045)
            )
            #expect(throws: Never.self) { try EnvelopeDecoder.decode(body: envelope) }
        default: break
        }
    }

    @Test("a signed request with any fault is refused", arguments: 0..<4)
    func signatures(_ seed: Int) {
        var random = SeededRandom(spreading: UInt64(seed))
        var keys = SigningKeys()
        let check = SignatureCheck(keys: [SignatureTests.key], region: "eu-west-1")
        let pieces = ["=", ",", ";", "/", "Z", "&", "é", "X-Amz-Date=", "Signature=", " ", "%", "\u{1}"].map {
            Array($0.utf8)
        }
        for _ in 0..<300 {
            var request = random.chance(0.5) ? SignatureTests.list : SignatureTests.presigned
            let before = request
            func mutate(_ text: String) -> String {
                String(decoding: Self.mutated(Array(text.utf8), pieces, &random), as: UTF8.self)
            }
            if random.chance(0.5), !request.query.isEmpty {
                request.query = mutate(request.query)
            } else {
                let index = Int.random(in: 0..<min(4, request.headers.count), using: &random)
                request.headers[index].value = mutate(request.headers[index].value)
            }
            let isAccepted =
                error {
                    try check.principal(
                        of: request,
                        now: UnixTime(seconds: SignatureTests.time),
                        signingKeys: &keys
                    )
                } == nil
            // The order of pairs and parts, and spaces, do not count.
            func sorted(_ request: SignedRequest) -> [[UInt8]] {
                [request.query.utf8.filter { $0 != 0x26 }.sorted()]
                    + request.headers.map {
                        $0.value.utf8.filter { $0 != 0x20 && $0 != 0x2C }.map { $0 | 0x20 }.sorted()
                    }
            }
            #expect(!isAccepted || sorted(request) == sorted(before), "\(request)")
        }
    }

    @Test("filter policies with faults are refused or give a verdict", arguments: 0..<4)
    func filters(_ seed: Int) {
        var random = SeededRandom(spreading: UInt64(seed))
        let policies = [
            #"{"store":["example_corp",{"prefix":"a"}],"price":[{"numeric":[">",1,"<=",5e2]}],"$or":[{"a":[1]},{"b":[null]}]}"#,
            #"{"store":[{"anything-but":{"wildcard":"*a*b*"}}],"ip":[{"cidr":"10.0.0.0/8"},{"exists":true}]}"#,
            #"{"a":{"b":{"c":[{"equals-ignore-case":"X"},{"suffix":"y"}]}},"ip6":[{"cidr":"2001:db8::/32"}]}"#,
        ].map { Array($0.utf8) }
        let pieces = ["{", "}", "[", "]", "\"", ":", ",", "*", "1e9", "-", "null", "\\u00e9", "\"$or\":"].map {
            Array($0.utf8)
        }
        let body = #"{"a":{"b":{"c":["x","zy",{"d":[1,2,[3]]}]}},"store":"ab","price":7,"ip6":"2001:db8::1"}"#
        var accepted = 0
        for _ in 0..<400 {
            let text = String(
                decoding: Self.mutated(policies.randomElement(using: &random)!, pieces, &random),
                as: UTF8.self
            )
            for scope in [FilterPolicy.Scope.messageBody, .messageAttributes] {
                guard let policy = try? FilterPolicy(parsing: text, scope: scope) else { continue }
                accepted += 1
                _ = policy.matches(attributes: FilterPolicyTests.attributes(), body: body)
            }
        }
        #expect(accepted > 10)
    }

    @Test("the work for a body at its limits grows with its length and no faster")
    func bounded() throws {
        // Each would take minutes if it were quadratic in the debug build that tests are.
        let lists = (1...Parameters.countLimit).map { "L.member.\($0)=v" }.joined(separator: "&")
        #expect(try Parameters(body: lists).list("L")?.count == Parameters.countLimit)
        let nested = (1...Parameters.countLimit).map { "M.entry.\($0 % 10 + 1).A.member.\($0).B.C.D=v" }.joined(
            separator: "&"
        )
        let entries = try #require(try Parameters(body: nested).entries("M"))
        #expect(try entries.reduce(0) { $0 + (try $1.structures("A")?.count ?? 0) } == Parameters.countLimit)
        let deep = String(repeating: "{\"a\":", count: 20_000)
        #expect(error { try FilterPolicy(parsing: deep, scope: .messageBody) } != nil)
        let wide = "{\"a\":[{\"anything-but\":[" + (0..<4000).map { "\"v\($0)\"" }.joined(separator: ",") + "]}]}"
        let values = "{\"a\":[" + (0..<4000).map { "\"v\($0)\"" }.joined(separator: ",") + "]}"
        let policy = try FilterPolicy(parsing: wide, scope: .messageBody)
        #expect(!policy.matches(attributes: MessageAttributes(), body: values))
    }
}
