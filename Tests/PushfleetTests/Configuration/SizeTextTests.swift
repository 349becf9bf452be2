internal import Testing

@testable import pushfleet

@Suite struct SizeTextTests {
    @Test func `Sizes are read with their unit and written in the largest that fits`() throws {
        let rows: [(String, Int, String)] = [
            ("0", 0, "0"), ("256MB", 256 << 20, "256MB"), ("1GB", 1 << 30, "1GB"), ("1024mb", 1 << 30, "1GB"),
            ("5KB", 5 << 10, "5KB"), ("2TB", 2 << 40, "2TB"), ("0MB", 0, "0"),
        ]
        for (text, size, shown) in rows {
            #expect(try SizeText.parse(text) == size)
            #expect(SizeText.format(size) == shown)
        }
        #expect(SizeText.format(1500) == "1500 bytes")
    }

    @Test(arguments: ["", "MB", "12", "1.5GB", "-1MB", "1 MB", "1XB", "99999999999999999999GB", "9999999999TB"])
    func `What is no size says how one is written`(text: String) {
        #expect(throws: ValueFault.self) { try SizeText.parse(text) }
    }
}
