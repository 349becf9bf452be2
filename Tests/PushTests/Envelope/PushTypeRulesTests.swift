import Push
import Testing

@Suite("Push type rules")
struct PushTypeRulesTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let type: PushType
        let suffix: String
        let standard: UInt8
        let priorities: [UInt8]
        let limit: Int
        let credentials: PushTypeRules.Credentials

        init(
            _ type: PushType,
            _ suffix: String,
            _ standard: UInt8,
            _ priorities: [UInt8],
            _ limit: Int = 4096,
            _ credentials: PushTypeRules.Credentials = .any
        ) {
            self.type = type
            self.suffix = suffix
            self.standard = standard
            self.priorities = priorities
            self.limit = limit
            self.credentials = credentials
        }

        var testDescription: String { self.type.rawValue }
    }

    /// Apple's pages, read by hand a second time.
    static let rows: [Row] = [
        Row(.alert, "", 10, [1, 5, 10]),
        Row(.background, "", 5, [5]),
        Row(.location, ".location-query", 10, [5, 10], 4096, .token),
        Row(.voip, ".voip", 10, [1, 5, 10], 5120),
        Row(.complication, ".complication", 10, [5, 10]),
        Row(.fileprovider, ".pushkit.fileprovider", 10, [5, 10]),
        Row(.mdm, "", 10, [10], 4096, .certificate),
        Row(.liveactivity, ".push-type.liveactivity", 10, [5, 10], 4096, .token),
        Row(.pushtotalk, ".voip-ptt", 10, [10]),
        Row(.widgets, ".push-type.widgets", 10, [5, 10], 4096, .token),
        Row(.controls, ".push-type.controls", 10, [5, 10], 4096, .token),
    ]

    @Test("every type has Apple's rules", arguments: Self.rows)
    func table(row: Row) {
        let rules = row.type.rules
        #expect(rules.topicSuffix == row.suffix)
        #expect(rules.defaultPriority.rawValue == row.standard)
        #expect(Priority.allCases.filter { rules.priorities.contains($0) }.map(\.rawValue) == row.priorities)
        #expect(rules.payloadLimit == row.limit)
        #expect(rules.credentials == row.credentials)
        #expect(rules.expiresSoon == [.voip, .pushtotalk].contains(row.type))
        #expect(rules.priorities.contains(rules.defaultPriority))
    }

    @Test("no type is left out, and none refuses a priority that Apple names")
    func whole() {
        #expect(Self.rows.map(\.type) == PushType.allCases)
        for type in PushType.allCases {
            #expect(type.rules.priorities.isDisjoint(with: type.rules.refusedPriorities))
        }
    }

    @Test(
        "only what Apple calls an error is refused: priority 10 in the background, wherever push_type stands",
        arguments: PushType.allCases,
        Priority.allCases
    )
    func refusedPriorities(type: PushType, priority: Priority) {
        let wanted = type == .background && priority == .immediate
        for members in [
            "\"push_type\":\"\(type.rawValue)\",\"priority\":\(priority.rawValue)",
            "\"priority\":\(priority.rawValue),\"push_type\":\"\(type.rawValue)\"",
        ] {
            let refusal = EnvelopeDecoderTests.refusal(EnvelopeDecoderTests.body(extra: members))
            #expect((refusal != nil) == wanted)
            guard wanted else { continue }
            #expect(refusal?.reason == .invalidField && refusal?.field == "priority")
            #expect(refusal?.detail.contains("use 5, or leave it out") == true, "\(refusal?.detail ?? "")")
        }
    }

    @Test("priorities are named with the most urgent first")
    func phrase() {
        #expect(PushTypeRules.Priorities.any.phrase == "10 or 5 or 1")
        #expect(PushType.background.rules.priorities.phrase == "5")
    }
}
