import Testing

/// Texts with a known verdict. `foreign` marks the few on which Foundation's parser differs, by design.
struct JSONCase: Sendable, CustomTestStringConvertible {
    let bytes: [UInt8]
    let isValid: Bool
    let foreign: Bool

    init(_ text: String, _ isValid: Bool, foreign: Bool = false) {
        self.init(Array(text.utf8), isValid, foreign: foreign)
    }

    init(_ bytes: [UInt8], _ isValid: Bool, foreign: Bool = false) {
        self.bytes = bytes
        self.isValid = isValid
        self.foreign = foreign
    }

    var testDescription: String {
        String(decoding: self.bytes.prefix(60), as: UTF8.self).debugDescription + (self.isValid ? " valid" : " invalid")
    }
}

enum JSONCorpus {
    static let all = Self.valid + Self.invalid + Self.encodings + Self.limits

    static let valid: [JSONCase] = [
        "{}", "[]", " {} ", "\t[\n]\r ", "null", "true", "false", "0", "-0", "1", "-1", "12", "1234567890",
        "0.0", "-0.0", "0.5", "1.25", "-12.75", "1e0", "1E0", "1e1", "1e+1", "1e-1", "1E+10", "1.5e3", "-1.5E-3",
        "0e0", "0e5", "0.0e5", "123456789012345678", "12345678901234567890", "123456789012345678901234567890",
        "0.1234567890123456789012345", "1e300", "1e-300", "1.7976931348623157e308", "1.7976931348623157e+308",
        "\"\"", "\"a\"", "\"abcdefg\"", "\"abcdefgh\"", "\"abcdefghi\"", "\"\\\"\"", "\"\\\\\"", "\"\\/\"",
        "\"\\b\\f\\n\\r\\t\"", "\"\\u0041\"", "\"\\u00e9\"", "\"\\u00E9\"", "\"\\u20ac\"", "\"\\ud83d\\ude00\"",
        "\"\\uD83D\\uDE00x\"", "\"\\u0000\"", "\"\\uffff\"", "\"\\ufffd\"", "\"\\ue000\"", "\"é\"", "\"€\"", "\"😀\"",
        "\"aé€😀z\"", "\"1234567é\"", "\"12345678é\"", "\"\u{7F}\"", "\"\u{80}\"", "\"\u{7FF}\"", "\"\u{800}\"",
        "\"\u{D7FF}\"", "\"\u{E000}\"", "\"\u{FFFF}\"", "\"\u{10000}\"", "\"\u{10FFFF}\"", "\"\u{2028}\u{2029}\"",
        "\"a\\\\\"", "\"a\\\\\\\"b\"", "\"// no comment\"", "\"{[,:]}\"",
        "[1]", "[1,2]", "[ 1 , 2 ]", "[[]]", "[[],[]]", "[{},{}]", "[null,true,false]", "[\"a\",1,{}]", "[[[[[[]]]]]]",
        "{\"a\":1}", "{ \"a\" : 1 }", "{\"a\":1,\"b\":2}", "{\"a\":{}}", "{\"a\":[]}", "{\"a\":{\"b\":{\"c\":[1,{}]}}}",
        "{\"\":0}", "{\"a b\":0}", "{\"\\u0061\":0}", "{\"é\":\"ü\"}", "{\"a\":\"\"}", "{\"a\":null}",
        "[1,\n2,\r\n3,\t4]", "{\n\"a\"\n:\n1\n}", "[0,-0,0.0,1e5]", "[\"\\\\\",\"\\\"\"]",
        "{\"aps\":{\"alert\":{\"title\":\"Hi\",\"body\":\"There 👋\"},\"badge\":3,\"sound\":\"default\"},\"x\":[1,2.5]}",
    ].map { JSONCase($0, true) }

    static let invalid: [JSONCase] = [
        "", " ", "\n", "{", "}", "[", "]", "{]", "[}", "[1", "[1,", "[,1]", "[,]", "[1 2]", "[1,,2]", "[1]]", "[[1]",
        "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{,}", "{\"a\"}", "{\"a\",1}", "{\"a\" 1}", "{\"a\"::1}",
        "{\"a\":1 \"b\":2}", "{\"a\":1;\"b\":2}", "{a:1}", "{'a':1}", "{1:1}", "{null:1}", "{\"a\":}", "{:1}",
        "{\"a\":1}}",
        "{\"a\":[}", "{\"a\":[1}", "[{\"a\":1]", "{\"a\":{]}", "{\"a\":1]", "[1}",
        "nul", "nulll", "NULL", "Null", "tru", "truee", "True", "fals", "falsee", "undefined", "nan", "NaN", "Infinity",
        "-Infinity", "inf", "n", "t", "f", "nullnull", "true false",
        "01", "00", "-01", "1.", ".5", "-.5", "-", "+1", "+", "1e", "1e+", "1e-", "1E", "1.e1", "1.5e", "0x10", "1_000",
        "1,000", "1 2", "--1", "1-", "1.2.3", "1e1.5", "1e1e1", "0.", "-a", "1a", "0123.4", "[01]", "[1.]", "[-]",
        "[.1]",
        "\"", "\"a", "\"a\\", "\"\\", "\"\\\"", "\"\\x41\"", "\"\\a\"", "\"\\0\"", "\"\\'\"", "\"\\u\"", "\"\\u0\"",
        "\"\\u00\"", "\"\\u004\"", "\"\\u004g\"", "\"\\uG000\"", "\"\\U0041\"", "\"\\u 041\"", "\"\\u+041\"",
        "\"a\nb\"", "\"a\tb\"", "\"a\rb\"", "\"\u{0}\"", "\"\u{1F}\"", "\"1234567\u{1}\"", "\"12345678\u{1}\"",
        "\"a\"b", "'a'",
        "\"a\" \"b\"", "[\"a\"\"b\"]", "[\"a]", "{\"a:1}", "{\"a\":\"b}", "{\"a\\\":1}",
        "// c\n1", "/* c */ 1", "[1] // c", "# c\n1", "{} x", "{}\u{0}", "[]\u{A0}", "\u{A0}[]", "\u{B}[]", "\u{C}[]",
        "[\u{2028}]", "{}{}", "[][]", "{},", "\\u0031", "(1)", "<a/>", "a", "@", "1;", "\u{7F}",
    ].map { JSONCase($0, false) }

    static let encodings: [JSONCase] =
        [
            // Not UTF-8, inside a string: stray and missing continuation, overlong, surrogates, beyond U+10FFFF.
            [0x80], [0xBF], [0xC0, 0x80], [0xC0, 0xAF], [0xC1, 0xBF], [0xC2], [0xC2, 0x20], [0xC2, 0xC2],
            [0xE0, 0x80, 0x80],
            [0xE0, 0x9F, 0xBF], [0xE0, 0xA0], [0xE2, 0x82], [0xE2, 0x28, 0xA1], [0xE2, 0x82, 0x28], [0xED, 0xA0, 0x80],
            [0xED, 0xBF, 0xBF], [0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80], [0xF0, 0x80, 0x80, 0x80],
            [0xF0, 0x8F, 0xBF, 0xBF],
            [0xF0, 0x9F, 0x98], [0xF0, 0x28, 0x8C, 0xBC], [0xF0, 0x90, 0x28, 0xBC], [0xF0, 0x90, 0x8C, 0x28],
            [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFE], [0xFF],
            [0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0xFF],
        ].map { JSONCase([0x22] + $0 + [0x22], false) }
        + [
            JSONCase([0xC2], false), JSONCase([0x22, 0xC3], false), JSONCase([0x22, 0xF0, 0x9F, 0x98], false),
            JSONCase([0x5B, 0xFF, 0x5D], false), JSONCase([0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D], false),
            // A byte order mark, and UTF-16 and UTF-32, which Foundation detects.
            JSONCase([0xEF, 0xBB, 0xBF] + Array("{}".utf8), false, foreign: true),
            JSONCase([0x5B, 0x00, 0x5D, 0x00], false, foreign: true),
            JSONCase([0x00, 0x5B, 0x00, 0x5D], false, foreign: true),
            JSONCase([0xFF, 0xFE, 0x5B, 0x00, 0x5D, 0x00], false, foreign: true),
        ]

    static let limits: [JSONCase] = [
        JSONCase("[1,]", false, foreign: true), JSONCase("{\"a\":1,}", false, foreign: true),
        JSONCase("[[],]", false, foreign: true), JSONCase("{\"a\":[] , }", false, foreign: true),
        JSONCase("\"\\ud800\"", false), JSONCase("\"\\udc00\"", false), JSONCase("\"\\ud800x\"", false),
        JSONCase("\"\\ud800\\u0041\"", false), JSONCase("\"\\ud800\\ud800\"", false), JSONCase("\"\\ud83d\\n\"", false),
        JSONCase("\"\\udc00\\ud800\"", false), JSONCase("\"\\ud83d\\ude0\"", false), JSONCase("{\"\\ud800\":1}", false),
        JSONCase("1e999", false), JSONCase("-1e999", false), JSONCase("1e309", false), JSONCase("1.8e308", false),
        JSONCase("[1e400]", false), JSONCase("0.001e312", false), JSONCase("1e99999999999999999999", false),
        JSONCase(String(repeating: "9", count: 310), false),
        JSONCase("1e-999", true), JSONCase("0e999", true), JSONCase("0.0e99999", true),
        JSONCase("0.001e311", true), JSONCase("17976931348623157" + String(repeating: "0", count: 292), true),
        JSONCase(String(repeating: "[", count: 64) + String(repeating: "]", count: 64), true),
        JSONCase(String(repeating: "[", count: 65) + String(repeating: "]", count: 65), false, foreign: true),
        JSONCase(String(repeating: "{\"a\":", count: 64) + "1" + String(repeating: "}", count: 64), true),
        JSONCase(
            String(repeating: "{\"a\":", count: 65) + "1" + String(repeating: "}", count: 65),
            false,
            foreign: true
        ),
        JSONCase(String(repeating: "[", count: 10_000), false),
        JSONCase(String(repeating: "[{\"a\":", count: 50_000), false),
    ]
}
