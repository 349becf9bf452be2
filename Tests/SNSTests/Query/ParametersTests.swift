import SNS
import Testing

@Suite("Parameters")
struct ParametersTests {
    @Test("the body that boto3 sends for an endpoint is read")
    func captured() throws {
        let parameters = try Parameters(
            body: "Action=CreatePlatformEndpoint&Version=2010-03-31&PlatformApplicationArn=arn%3Aaws%3Asns%3Aeu-west-1"
                + "%3A123456789012%3Aapp%2FAPNS%2FMyApp&Token=aabb&CustomUserData=u+1%2B%C3%A9%F0%9F%98%80%26%3D"
                + "&Attributes.entry.1.key=Enabled&Attributes.entry.1.value=true"
        )
        #expect(try parameters.text("PlatformApplicationArn") == application.description)
        #expect(try parameters.text("CustomUserData") == "u 1+é😀&=")
        #expect(try parameters.map("Attributes") == ["Enabled": "true"])
        #expect(try parameters.text("Absent") == nil)
        #expect(try parameters.map("Absent") == nil)
        #expect(try parameters.list("Absent") == nil)
    }

    @Test("parameters may stand in the query string, beside those of a pre-signed URL")
    func query() throws {
        let parameters = try Parameters(
            query: "Action=Publish&X-Amz-Date=20260102T030405Z&Message=hi%20there",
            body: ""
        )
        #expect(try parameters.text("Message") == "hi there")
        #expect(try parameters.text("X-Amz-Date") == nil)
    }

    @Test("elements come in the order of their indices, whatever the order of the pairs, and gaps are closed")
    func order() throws {
        let parameters = try Parameters(
            body:
                "L.member.10=j&L.member.2=b&L.member.9=i&M.entry.2.value=2&M.entry.1.key=a&M.entry.2.key=b&M.entry.1.value=1"
        )
        #expect(try parameters.list("L") == ["b", "i", "j"])
        #expect(try parameters.map("M") == ["a": "1", "b": "2"])
    }

    @Test("an empty list is its name without a value")
    func empty() throws {
        let parameters = try Parameters(body: "TagKeys=&Attributes=&Blank=")
        #expect(try parameters.list("TagKeys") == [])
        #expect(try parameters.map("Attributes") == [:])
        #expect(try parameters.text("Blank") == "")
        #expect(try parameters.structures("TagKeys")?.isEmpty == true)
    }

    @Test("structures within a list have lists and maps of their own")
    func nested() throws {
        let parameters = try Parameters(
            body:
                "E.member.2.Id=b&E.member.1.Id=a&E.member.1.A.entry.1.Name=n&E.member.1.A.entry.1.Value.DataType=String"
        )
        let entries = try #require(try parameters.structures("E"))
        #expect(try entries.map { try $0.text("Id") } == ["a", "b"])
        let attribute = try #require(try entries[0].entries("A")?.first)
        #expect(try attribute.text("Name") == "n")
        #expect(try attribute.structure("Value")?.text("DataType") == "String")
        #expect(try entries[1].entries("A") == nil)
    }

    @Test(
        "what is no list or map is malformed input",
        arguments: [
            "A.member.0=x", "A.member.=x", "A.member.x=x", "A.member.-1=x", "A.member.01=x", "A.member.1.=x",
            "A.member.99999999999999999999=x", "A.member.10001=x", "A.member=x", "A.entry.1=x", "A.1=x", "A=x", "A.=x",
            "A.member.1=x&A.member.1.Key=y", "A.member.1.Key=x",
        ]
    )
    func malformedLists(_ body: String) {
        #expect(error { try Parameters(body: body).list("A") }?.code == "MalformedInput")
    }

    @Test(
        "what is no map is malformed input",
        arguments: [
            "A.PlatformCredential=x", "A.entry.1=x", "A.entry.1.key=x", "A.entry.1.value=x", "A.member.1.key=x", "A=x",
            "A.entry.1.key=a&A.entry.1.value=1&A.entry.2.key=a&A.entry.2.value=2",
            "A.entry.1.key.x=a&A.entry.1.value=1",
        ]
    )
    func malformedMaps(_ body: String) {
        #expect(error { try Parameters(body: body).map("A") }?.code == "MalformedInput")
    }

    @Test("the syntax of another protocol is refused in Amazon's words")
    func otherSyntax() {
        #expect(
            error { try Parameters(body: "Attributes.PlatformCredential=x").map("Attributes") }
                == SNSError("MalformedInput", "Value found where not expected")
        )
    }

    @Test("a structure in the place of a value is malformed input")
    func structureForValue() {
        #expect(error { try Parameters(body: "Token.x=1").text("Token") }?.code == "MalformedInput")
    }

    @Test(
        "what does not decode is a malformed query string",
        arguments: [
            "A=%", "A=%4", "A=%zz", "A=%ff", "A=%C3", "A=%ED%A0%80", "A=%C0%80", "%ff=1", "=x", "A%00=x", "A=1&A=2",
            "A%1F=x", "A=1&%41=2",
        ]
    )
    func undecodable(_ body: String) {
        #expect(error { try Parameters(body: body) }?.code == "MalformedQueryString")
    }

    @Test("raw bytes that are not UTF-8 are refused as well")
    func rawBytes() {
        #expect(error { try Parameters(query: [], body: [0x41, 0x3D, 0xFF]) }?.code == "MalformedQueryString")
    }

    @Test("a parameter in the query string and in the body is there twice")
    func twice() {
        #expect(error { try Parameters(query: "A=1", body: "A=2") }?.code == "MalformedQueryString")
        let many = (1...30).map { "P\($0)=x" }.joined(separator: "&")
        #expect(error { try Parameters(body: many + "&P7=y") }?.code == "MalformedQueryString")
        #expect(error { try Parameters(body: many) } == nil)
    }

    @Test("the number of parameters, the length of names and their depth have limits")
    func limits() {
        let many = (0...Parameters.countLimit).map { "P\($0)=" }
        #expect(error { try Parameters(body: many.dropLast().joined(separator: "&")) } == nil)
        #expect(error { try Parameters(body: many.joined(separator: "&")) }?.code == "MalformedQueryString")
        let long = String(repeating: "n", count: Parameters.nameLimit)
        #expect(error { try Parameters(body: long + "=") } == nil)
        #expect(error { try Parameters(body: long + "n=") }?.code == "MalformedQueryString")
        let deep = Array(repeating: "a", count: Parameters.depthLimit).joined(separator: ".")
        #expect(error { try Parameters(body: deep + "=") } == nil)
        #expect(error { try Parameters(body: deep + ".a=") }?.code == "MalformedInput")
    }

    @Test("empty pairs and pairs without an equals sign do no harm")
    func sparse() throws {
        let parameters = try Parameters(body: "&&A&B=b=c&&")
        #expect(try parameters.text("A") == "")
        #expect(try parameters.text("B") == "b=c")
    }
}
