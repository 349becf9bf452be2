internal import Testing

@testable import pushfleet

@Suite struct TableTests {
    @Test("columns are as wide as their widest cell, numbers stand to the right")
    func aligns() {
        var table = Table("name", ">count", "note")
        table.add("a", "1", "x")
        table.add("longer name", "1000")
        #expect(
            table.lines(indent: 2) == [
                "  name         count  note",
                "  a                1  x",
                "  longer name   1000",
            ]
        )
    }

    @Test("text is broken between words")
    func wraps() {
        #expect(Terminal.wrapped("aa bb cc dd", indent: 2, width: 7) == ["  aa bb", "  cc dd"])
        #expect(Terminal.wrapped("averylongword b", indent: 0, width: 5) == ["averylongword", "b"])
    }

    @Test(
        "NO_COLOR and dumb terminals get no colour",
        arguments: [
            ([:], true), (["NO_COLOR": ""], true), (["NO_COLOR": "1"], false), (["TERM": "dumb"], false),
            (["TERM": "xterm"], true),
        ] as [([String: String], Bool)]
    )
    func colour(environment: [String: String], allows: Bool) {
        #expect(Palette.allows(environment) == allows)
        #expect(Palette(isColourful: false).paint("x", .red) == "x")
        #expect(Palette(isColourful: true).paint("x", .red) == "\u{1B}[31mx\u{1B}[0m")
    }
}
