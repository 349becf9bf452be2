internal import Push
internal import Testing
internal import Worker

@testable import pushfleet

@Suite struct AppCheckTests {
    static let app = "com.example.shop"

    static func check(_ names: String...) -> AppCheck {
        let credentials = (names.isEmpty ? ["main"] : names).map {
            CredentialSettings(
                name: $0,
                environment: .sandbox,
                teamID: "TEAM123456",
                keyID: "KEY1234567",
                keyFile: "/k.p8",
                maxConnections: 1
            )
        }
        return AppCheck(credentials: credentials, loaded: [])
    }

    @Test("an app in Redis says what one in the file says")
    func good() throws {
        let text = """
            {"credential":"main","bundle_id":"com.example.ios","rate":200,"bucket_size":50,"lint":"strict",\
            "retry":{"min_backoff":"7s","retry_limit":3},"breaker":{"threshold":0},"fit":null}
            """
        let judged = Self.check().judge(stored: Self.app, text)
        #expect(judged.problems == [])
        let app = try #require(judged.settings)
        #expect(app.id == Self.app && app.bundleID == "com.example.ios" && app.credential == "main")
        #expect(app.rate?.rate == 200 && app.rate?.bucketSize == 50 && app.lint == .strict && app.fit == .reject)
        #expect(app.retry.minBackoff == .seconds(7) && app.retry.retryLimit == 3 && app.breaker.threshold == 0)
        let values = Dictionary(uniqueKeysWithValues: judged.effective.map { ($0.key, $0) })
        #expect(values["apps.\(Self.app).rate"]?.origin == .redis)
        #expect(values["apps.\(Self.app).retry.age_limit"]?.origin == .standard)
        #expect(judged.effective.count == SettingsTable.keys.count { $0.path[0] == "apps" })
    }

    static let faults: [(String, String, String)] = [
        ("", "", "is not a JSON object; put it there with pushfleet app put"),
        ("credential: main", "", "is not a JSON object"),
        ("[]", "", "is not a JSON object"), (#"{"credential":"#, "", "is not a JSON object"),
        (#"{"credential":"main","credential":"main"}"#, "", "has credential twice in one section; keep one of them"),
        ("{}", ".credential", "is missing; the name of the credential"),
        (
            #"{"credential":"mian"}"#, ".credential",
            #""mian" is not in credentials; those are main; did you mean main?"#
        ),
        (#"{"credential":"main","ratte":1}"#, ".ratte", "is not a key; did you mean apps.com.example.shop.rate?"),
        (#"{"credential":"main","rate":0}"#, ".rate", #""0" is out of range; it must be 1 to 1000000"#),
        (#"{"credential":"main","rate":-5}"#, ".rate", #""-5" is out of range"#),
        (#"{"credential":"main","rate":1e9}"#, ".rate", "is not a whole number"),
        (#"{"credential":"main","rate":99999999999999999999}"#, ".rate", "is out of range"),
        (#"{"credential":"main","rate":[1]}"#, ".rate", "must be one value"),
        (#"{"credential":"main","rate":10,"bucket_size":0}"#, ".bucket_size", "it must be 1 to 1000000"),
        (#"{"credential":"main","retry":7}"#, ".retry", "must be a section with keys below it: min_backoff"),
        (#"{"credential":"main","retry":{"min_backoff":7}}"#, ".retry.min_backoff", "has no unit; write 7s"),
        (
            #"{"credential":"main","retry":{"min_backoff":"1h"}}"#, ".retry.min_backoff",
            "must not be greater than max_backoff"
        ),
        (#"{"credential":"main","lint":"srict"}"#, ".lint", "did you mean strict?"),
    ]

    @Test("a wrong app in Redis is refused with its place, its key and the fix", arguments: Self.faults)
    func refused(text: String, key: String, hint: String) {
        let judged = Self.check().judge(stored: Self.app, text)
        #expect(judged.settings == nil)
        #expect(judged.errors.map(\.place) == ["redis"], "\(judged.problems)")
        #expect(judged.errors.first?.key == "apps.\(Self.app)\(key)")
        #expect(judged.errors.first?.text.contains(hint) == true, "\(judged.problems)")
        #expect(judged.errors.first?.line == nil)
    }

    @Test("the problem reads like one of the file")
    func description() {
        let judged = Self.check().judge(stored: Self.app, #"{"credential":"main","rate":0}"#)
        let text = #"redis: apps.com.example.shop.rate: "0" is out of range; it must be 1 to 1000000"#
        #expect(judged.problems.map(\.description) == [text])
        #expect(Self.check().judge(stored: "a b", #"{"credential":"main"}"#).errors.first?.key == "apps.a b")
    }

    @Test("arguments and files become one line of JSON, whatever their order")
    func drafts() throws {
        let pairs = ["rate=200", "retry.age_limit=1h", "credential=main", "retry.min_backoff=7s", "bundle_id="]
        let arguments = try AppDraft(AppDraft.file(Self.app, pairs: pairs), Self.app, Self.check())
        let json =
            #"{"credential":"main","rate":200,"retry":{"age_limit":"1h","min_backoff":"7s"}}"#
        #expect(arguments.judged.problems == [])
        #expect(arguments.json == json)
        let yaml = "retry: { min_backoff: 7s, age_limit: 1h }\ncredential: main\nrate: 200\n"
        for text in [yaml, json] {
            let file = ConfigurationFile(app: Self.app, text: text, name: "f", origin: .file)
            #expect(try AppDraft(file, Self.app, Self.check()).json == json)
        }
        #expect(Self.check().judge(stored: Self.app, json).settings == arguments.judged.settings)
    }

    @Test(
        "arguments that are wrong are named",
        arguments: [
            (["credential=main", "rate=fast"], "app put: apps.com.example.shop.rate: \"fast\" is not a whole number"),
            (["credential=main", "retry.min=1s"], "app put: apps.com.example.shop.retry.min: is not a key"),
            (["credential=main", "credential=main"], "app put: apps.com.example.shop.credential: is given 2 times"),
            (["rate=5"], "app put: apps.com.example.shop.credential: is missing"),
        ]
    )
    func wrongArguments(pairs: [String], text: String) throws {
        let draft = try AppDraft(AppDraft.file(Self.app, pairs: pairs), Self.app, Self.check())
        #expect(draft.judged.settings == nil)
        #expect(draft.judged.errors.first?.description.hasPrefix(text) == true, "\(draft.judged.problems)")
        #expect(throws: (any Error).self) { try AppDraft.file(Self.app, pairs: ["credential"]) }
    }
}
