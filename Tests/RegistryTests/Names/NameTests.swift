import Testing

@testable import Registry

@Suite struct NameTests {
    @Test func `A name-based id is that of RFC 9562`() throws {
        // The vector of appendix A.2, whose name space and name are hashed one after the other.
        let id = ResourceID(naming: "www.example.com")
        #expect(Array(id.description)[14] == "3")
        #expect("89ab".contains(Array(id.description)[19]))
        #expect(ResourceID(id.description) == id)
        #expect(ResourceID(bytes: id.bytes) == id)
        #expect(ResourceID(id.description.uppercased()) == id)
    }

    @Test(arguments: [
        "", "0", "00000000-0000-0000-0000-00000000000", "00000000-0000-0000-0000-0000000000000",
        "000000000000-0000-0000-0000-00000000", "0000000g-0000-0000-0000-000000000000",
        "é0000000-0000-0000-0000-0000000",
    ])
    func `What is no UUID is none`(text: String) {
        #expect(ResourceID(text) == nil)
    }

    @Test func `Ids have the order of their bytes`() {
        let ids = (0..<100).map { ResourceID(naming: "\($0)") }.sorted()
        for (left, right) in zip(ids, ids.dropFirst()) {
            #expect(left.bytes.lexicographicallyPrecedes(right.bytes))
            #expect(left.description < right.description)
        }
    }

    @Test func `Three slots differ, and depend on application and token`() {
        let slots = ApplicationName.shop.slots(for: EndpointToken("aabb"))
        #expect(Set(slots).count == 3)
        #expect(slots == ApplicationName.shop.slots(for: EndpointToken("AABB")))
        #expect(Set(slots).isDisjoint(with: ApplicationName.other.slots(for: EndpointToken("aabb"))))
        #expect(Set(slots).isDisjoint(with: ApplicationName.shop.slots(for: EndpointToken("aabc"))))
    }

    @Test(arguments: [
        ("AABB", true, "aabb", 2), ("aab", true, "aab", 3), ("xyz:Q", false, "xyz:Q", 5), ("00", false, "00", 1),
    ])
    func `Tokens are packed and come back`(text: String, isApple: Bool, normal: String, size: Int) {
        let token = EndpointToken(text, isApple: isApple)
        #expect(token.text == normal)
        #expect(token.packed.count == size)
        #expect(EndpointToken(packed: token.packed, isHexadecimal: token.isHexadecimal) == token)
    }

    @Test func `A token does not show in logs`() {
        let text = String(repeating: "ab", count: 32)
        #expect(!"\(EndpointToken(text))".contains(text))
    }
}
