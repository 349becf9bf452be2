import SNS
import Testing

@Suite("Filter policies")
struct FilterPolicyTests {
    static func attributes() -> MessageAttributes {
        var attributes = MessageAttributes()
        func add(_ name: String, _ type: String, _ text: String) {
            attributes.append(name, .init(dataType: type, content: .text(text)))
        }
        add("store", "String", "example_corp")
        add("price", "Number", "210.75")
        add("count", "Number.int", "10.0")
        add("ip", "String", "10.1.2.3")
        add("ip6", "String", "2001:db8::1")
        add("interests", "String.Array", #"["rugby", 7, true, null]"#)
        add("none", "String.Array", "[]")
        add("broken", "String.Array", "[1")
        add("label", "String.custom", "x")
        attributes.append("raw", .init(dataType: "Binary", content: .binary([1])))
        return attributes
    }

    static func matches(_ policy: String) throws -> Bool {
        try FilterPolicy(parsing: policy, scope: .messageAttributes).matches(attributes: Self.attributes(), body: "")
    }

    static func matches(_ policy: String, body: String) throws -> Bool {
        try FilterPolicy(parsing: policy, scope: .messageBody).matches(attributes: MessageAttributes(), body: body)
    }

    @Test(
        "attributes that match",
        arguments: [
            "{}", #"{"store":["example_corp"]}"#, #"{"store":["a","example_corp"]}"#, #"{"price":[210.75]}"#,
            #"{"count":[10]}"#, #"{"count":[1e1]}"#, #"{"store":[{"prefix":"example"}]}"#,
            #"{"store":[{"suffix":"_corp"}]}"#,
            #"{"store":[{"equals-ignore-case":"EXAMPLE_Corp"}]}"#, #"{"store":[{"anything-but":"x"}]}"#,
            #"{"store":[{"anything-but":["x","y"]}]}"#, #"{"store":[{"anything-but":{"prefix":"order"}}]}"#,
            #"{"store":[{"anything-but":{"suffix":["x","y"]}}]}"#, #"{"price":[{"anything-but":[1,2]}]}"#,
            #"{"store":[{"exists":true}]}"#, #"{"absent":[{"exists":false}]}"#, #"{"raw":[{"exists":false}]}"#,
            #"{"price":[{"numeric":["=",210.75]}]}"#, #"{"price":[{"numeric":[">",210,"<=",210.75]}]}"#,
            #"{"price":[{"numeric":["<",211]}]}"#, #"{"price":[{"numeric":[">=",210.75]}]}"#,
            #"{"ip":[{"cidr":"10.1.0.0/16"}]}"#, #"{"ip":[{"cidr":"10.1.2.3/32"}]}"#, #"{"ip":[{"cidr":"0.0.0.0/0"}]}"#,
            #"{"ip6":[{"cidr":"2001:db8::/32"}]}"#, #"{"store":[{"wildcard":"ex*_c*p"}]}"#,
            #"{"store":[{"wildcard":"*"}]}"#,
            #"{"store":[{"wildcard":"*corp"}]}"#, #"{"store":[{"wildcard":"example_corp"}]}"#,
            #"{"interests":["rugby"]}"#, #"{"interests":[7]}"#, #"{"interests":[true]}"#, #"{"interests":[null]}"#,
            #"{"interests":["x",{"prefix":"rug"}]}"#, #"{"interests":[{"anything-but":"rugby"}]}"#,
            #"{"label":["x"],"store":["example_corp"]}"#,
            #"{"$or":[{"store":["x"]},{"price":[210.75]}]}"#,
            #"{"store":["x","example_corp"],"$or":[{"a":["b"]},{"label":["x"]}]}"#,
            #"{"stor\u0065":["example\u005fcorp"]}"#,
        ]
    )
    func matching(_ policy: String) throws {
        #expect(try Self.matches(policy))
    }

    @Test(
        "attributes that do not match",
        arguments: [
            #"{"store":["Example_corp"]}"#, #"{"store":["example"]}"#, #"{"price":["210.75"]}"#, #"{"store":[210.75]}"#,
            #"{"price":[210]}"#, #"{"store":[{"prefix":"xexample"}]}"#, #"{"store":[{"suffix":"x"}]}"#,
            #"{"price":[{"prefix":"2"}]}"#, #"{"store":[{"anything-but":"example_corp"}]}"#,
            #"{"store":[{"anything-but":["a","example_corp"]}]}"#, #"{"store":[{"anything-but":{"prefix":"ex"}}]}"#,
            #"{"store":[{"anything-but":{"suffix":["x","corp"]}}]}"#,
            #"{"store":[{"anything-but":{"wildcard":"e*p"}}]}"#,
            #"{"absent":[{"anything-but":"x"}]}"#, #"{"price":[{"anything-but":[210.75]}]}"#, #"{"absent":["x"]}"#,
            #"{"store":[{"exists":false}]}"#, #"{"absent":[{"exists":true}]}"#, #"{"raw":[{"exists":true}]}"#,
            #"{"price":[{"numeric":["=",210]}]}"#, #"{"price":[{"numeric":[">",210.75]}]}"#,
            #"{"price":[{"numeric":[">",1,"<",210.75]}]}"#, #"{"store":[{"numeric":["<",1]}]}"#,
            #"{"ip":[{"cidr":"10.2.0.0/16"}]}"#, #"{"store":[{"cidr":"10.2.0.0/16"}]}"#,
            #"{"ip6":[{"cidr":"10.0.0.0/8"}]}"#,
            #"{"ip6":[{"cidr":"2001:db9::/32"}]}"#, #"{"store":[{"wildcard":"ex*x"}]}"#,
            #"{"store":[{"wildcard":"*example"}]}"#,
            #"{"interests":["football"]}"#, #"{"interests":["7"]}"#, #"{"none":["x"]}"#, #"{"broken":[1]}"#,
            #"{"store":["example_corp"],"price":[1]}"#, #"{"$or":[{"store":["x"]},{"price":[1]}]}"#,
            #"{"none":[{"exists":true}]}"#, #"{"price":[true]}"#, #"{"price":[null]}"#,
        ]
    )
    func differing(_ policy: String) throws {
        #expect(try !Self.matches(policy))
    }

    @Test(
        "bodies that match",
        arguments: [
            (#"{"a":{"b":["x"]}}"#, #"{"a":{"b":"x"}}"#), (#"{"a":{"b":["x"]}}"#, #"{"a":[{"b":"y"},{"b":"x"}]}"#),
            (#"{"a":{"b":["x"],"c":[1]}}"#, #"{"a":[{"b":"y","c":2},{"b":"x","c":1}]}"#),
            (#"{"a":["x"]}"#, #"{"a":["y","x"]}"#), (#"{"a":[null]}"#, #"{"a":null}"#),
            (#"{"a":[true]}"#, #"{"a":true}"#),
            (#"{"a":{"b":[{"exists":false}]}}"#, #"{"a":{}}"#), (#"{"a":{"b":[{"exists":false}]}}"#, "{}"),
            (#"{"a":[{"numeric":[">",1]}]}"#, #"{"a":1.5}"#), (#"{"a":["x"]}"#, #"{"a":"y","a":"x"}"#),
            (#"{"a":{"$or":[{"b":[1]},{"c":[2]}]}}"#, #"{"a":{"c":2}}"#), (#"{"a":["x"]}"#, #"{"a":[["x"]]}"#),
            (#"{"a":[{"exists":true}]}"#, #"{"a":[1]}"#), (#"{"a":["\ud83d\ude00"]}"#, #"{"a":"😀"}"#), ("{}", "{}"),
        ]
    )
    func matchingBodies(_ policy: String, _ body: String) throws {
        #expect(try Self.matches(policy, body: body))
    }

    @Test(
        "bodies that do not match",
        arguments: [
            (#"{"a":{"b":["x"]}}"#, #"{"a":"x"}"#),
            (#"{"a":{"b":["x"],"c":[1]}}"#, #"{"a":[{"b":"x","c":2},{"b":"y","c":1}]}"#),
            (#"{"a":["x"]}"#, #"{"a":{"x":"x"}}"#), (#"{"a":["x"]}"#, "x"), (#"{"a":[{"exists":false}]}"#, "[]"),
            (#"{"a":[{"exists":false}]}"#, "no JSON"), (#"{"a":["x"]}"#, #"{"a":"x""#),
            (#"{"a":["é"]}"#, "{\"a\":\"e\u{301}\"}"),
            (#"{"a":[{"anything-but":"x"}]}"#, #"{"a":{}}"#), (#"{"a":[1]}"#, #"{"a":true}"#),
        ]
    )
    func differingBodies(_ policy: String, _ body: String) throws {
        #expect(try !Self.matches(policy, body: body))
    }

    @Test(
        "policies that are refused, in Amazon's words",
        arguments: [
            ("", "failed to parse JSON."), ("[]", "failed to parse JSON."), ("{", "failed to parse JSON."),
            (
                #"{"a":["x"],"b":["x"],"c":["x"],"d":["x"],"e":["x"],"f":["x"]}"#,
                "Filter policy can not have more than 5 keys"
            ),
            (#"{"a":"x"}"#, #""a" must be an object or an array"#), (#"{"a":[]}"#, "Empty arrays are not allowed"),
            (#"{"a":[["x"]]}"#, "Match value must be String, number, true, false, or null"),
            (#"{"a":[{"prefix":"x","suffix":"y"}]}"#, "Only one key allowed in match expression"),
            (#"{"a":[{}]}"#, "Only one key allowed in match expression"),
            (#"{"a":[{"exists":"true"}]}"#, "exists match pattern must be either true or false."),
            (#"{"a":[{"prefix":1}]}"#, "prefix match pattern must be a string"),
            (#"{"a":[{"suffix":null}]}"#, "suffix match pattern must be a string"),
            (#"{"a":[{"regex":"x"}]}"#, "Unrecognized match type regex"),
            (#"{"a":[{"numeric":[]}]}"#, "Invalid member in numeric match: ]"),
            (#"{"a":[{"numeric":["<>",1]}]}"#, "Unrecognized numeric range operator: <>"),
            (#"{"a":[{"numeric":["<","1"]}]}"#, "Value of < must be numeric"),
            (#"{"a":[{"numeric":["="]}]}"#, "Value of equals must be numeric"),
            (#"{"a":[{"numeric":[">",2,"<",1]}]}"#, "Bottom must be less than top"),
            (#"{"a":[{"numeric":["<",2,">",1]}]}"#, "Too many elements in numeric expression"),
            (#"{"a":[{"numeric":[">",2,"=",3]}]}"#, "Bad numeric range operator"),
            (#"{"a":[{"numeric":[">",2,"<",3,"x"]}]}"#, "Too many terms in numeric range expression"),
            (#"{"a":[2e9]}"#, "Value must be between"), (#"{"a":[{"cidr":"x"}]}"#, "Malformed CIDR"),
            (#"{"a":[{"wildcard":"a**b"}]}"#, "wildcard match pattern"),
            (#"{"a":[{"wildcard":"*a*b*c*"}]}"#, "wildcard match pattern"),
        ]
    )
    func refused(_ policy: String, _ text: String) {
        for prefix in ["", "Attributes Reason: "] {
            let found = error { try FilterPolicy(parsing: policy, scope: .messageAttributes, prefix: prefix) }
            #expect(found?.code == "InvalidParameter")
            #expect(found?.message.hasPrefix("Invalid parameter: \(prefix)FilterPolicy: \(text)") == true)
        }
    }

    @Test("only bodies can be filtered by what is nested")
    func nesting() {
        let policy = #"{"a":{"b":["x"]}}"#
        #expect(
            error { try FilterPolicy(parsing: policy, scope: .messageAttributes) }?.message
                == "Invalid parameter: Filter policy scope MessageAttributes does not support nested filter policy"
        )
        #expect(error { try FilterPolicy(parsing: policy, scope: .messageBody) } == nil)
    }

    @Test("the conditions of keys are multiplied, and depth counts")
    func complexity() {
        func values(_ count: Int) -> String { "[" + (0..<count).map { "\"v\($0)\"" }.joined(separator: ",") + "]" }
        func refuses(_ policy: String, _ scope: FilterPolicy.Scope = .messageAttributes) -> Bool {
            error { try FilterPolicy(parsing: policy, scope: scope) }?.message
                == "Invalid parameter: FilterPolicy: Filter policy is too complex"
        }
        #expect(!refuses("{\"a\":\(values(15)),\"b\":\(values(10))}"))
        #expect(refuses("{\"a\":\(values(16)),\"b\":\(values(10))}"))
        #expect(
            !refuses("{\"a\":{\"b\":{\"c\":\(values(4))}},\"d\":{\"e\":\(values(3))},\"f\":\(values(2))}", .messageBody)
        )
        #expect(
            refuses("{\"a\":{\"b\":{\"c\":\(values(5))}},\"d\":{\"e\":\(values(3))},\"f\":\(values(2))}", .messageBody)
        )
        #expect(!refuses("{\"$or\":[{\"a\":\(values(75))},{\"b\":\(values(75))}]}"))
        #expect(refuses("{\"$or\":[{\"a\":\(values(75))},{\"b\":\(values(76))}]}"))
        let nines = (0..<9).map { "\"k\($0)\":\(values(100))" }.joined(separator: ",")
        #expect(refuses("{\"a\":{\(nines)}}", .messageBody))
    }

    @Test("an $or that is none is a name like any other")
    func lonelyOr() throws {
        #expect(error { try FilterPolicy(parsing: #"{"$or":[{"a":["x"]}]}"#, scope: .messageAttributes) } != nil)
        #expect(try !Self.matches(#"{"$or":["x"]}"#))
    }

    @Test("stars cost no more than the text is long")
    func wildcards() throws {
        let text = String(repeating: "a", count: 40_000)
        let pattern = String(repeating: "a", count: 10_000) + "b"
        #expect(try !Self.matches("{\"a\":[{\"wildcard\":\"*\(pattern)*\(pattern)*\"}]}", body: "{\"a\":\"\(text)\"}"))
    }

    @Test(
        "addresses",
        arguments: [
            ("::1/128", "::1", true), ("::1/128", "0:0:0:0:0:0:0:1", true), ("1::/16", "1::", true),
            ("1::/16", "1:", false),
            ("::ffff:1.2.3.4/128", "::ffff:102:304", true), ("1.2.3.4/31", "1.2.3.5", true),
            ("1.2.3.4/31", "1.2.3.6", false),
            ("1.2.3.4/0", "x", false), ("1.2.3.4/0", "1.2.3", false), ("1.2.3.4/0", "1.2.3.256", false),
            ("::/0", "1:2:3:4:5:6:7", false), ("::/0", "1:2:3:4:5:6:7:8", true), ("::/0", "1::2::3", false),
            ("::/0", ":::", false), ("::/0", "::", true), ("::/0", "+1::", false),
        ]
    )
    func addresses(_ block: String, _ address: String, _ isWithin: Bool) throws {
        #expect(try Self.matches("{\"a\":[{\"cidr\":\"\(block)\"}]}", body: "{\"a\":\"\(address)\"}") == isWithin)
    }

    @Test(
        "blocks that are none are refused",
        arguments: ["1.2.3.4", "1.2.3.4/33", "::/129", "1.2.3.4/", "/8", "1.2.3.4/8/8", "a/8", "1.2.3.4/-1"]
    )
    func blocks(_ block: String) {
        #expect(error { try Self.matches("{\"a\":[{\"cidr\":\"\(block)\"}]}") } != nil)
    }
}
