import TestServers
import Testing

@testable import Registry

@Suite struct TopicTests {
    @Test func `Making a topic twice compares what is given, and only that`() async throws {
        try await withRegistry { _, registry in
            func create(_ attributes: [String: String] = [:], _ tags: [String: String] = [:]) async throws
                -> TopicCreation
            {
                try await registry.ask { $0.createTopic("t", attributes: attributes, tags: tags, $1) }
            }
            #expect(try await create(["DisplayName": "x"], ["a": "1"]) == .created)
            #expect(try await create() == .existing)
            #expect(try await create(["DisplayName": "x"], ["a": "1"]) == .existing)
            #expect(try await create(["DisplayName": "y"]) == .otherAttributes)
            #expect(try await create(["Policy": "{}"]) == .otherAttributes)
            #expect(try await create([:], ["a": "2"]) == .otherTags)
            #expect(try await create([:], ["b": "1"]) == .otherTags)
            let topic = try #require(try await registry.ask { $0.topic("t", $1) })
            #expect(topic.attributes == ["DisplayName": "x"] && topic.tags == ["a": "1"] && topic.subscriptions == 0)
            #expect(try await registry.ask { $0.topic("u", $1) } == nil)
            let name = ["DisplayName": "z"]
            #expect(try await registry.ask { $0.setTopic("t", attributes: name, $1) } == .changed)
            #expect(try await registry.ask { $0.setTopic("t", attributes: name, $1) } == .unchanged)
            #expect(try await registry.ask { $0.setTopic("u", attributes: name, $1) } == .missing)
            #expect(try await registry.ask { $0.deleteTopic("t", $1) } == .removed)
            #expect(try await registry.ask { $0.deleteTopic("t", $1) } == .absent)
            #expect(try await create([:], [:]) == .created)
            #expect(try await registry.ask { $0.topic("t", $1) }?.tags.isEmpty == true)
        }
    }

    @Test func `A topic has at most fifty tags, and too many set none`() async throws {
        try await withRegistry { _, registry in
            func tag(_ numbers: Range<Int>) async throws -> Tagging {
                let tags = Dictionary(uniqueKeysWithValues: numbers.map { ("k\($0)", "v") })
                return try await registry.ask { $0.tag(topic: "t", tags, $1) }
            }
            #expect(try await tag(0..<1) == .noTopic)
            _ = try await registry.ask { $0.createTopic("t", $1) }
            #expect(try await tag(0..<51) == .tooMany)
            #expect(try await tag(0..<40) == .tagged)
            #expect(try await tag(35..<51) == .tooMany)
            #expect(try await tag(35..<50) == .tagged)
            #expect(try await registry.ask { $0.topic("t", $1) }?.tags.count == 50)
            #expect(try await registry.ask { $0.untag(topic: "t", ["k1", "none"], $1) } == .changed)
            #expect(try await registry.ask { $0.untag(topic: "t", ["k1"], $1) } == .unchanged)
            #expect(try await registry.ask { $0.untag(topic: "u", ["k1"], $1) } == .missing)
            #expect(try await registry.ask { $0.topic("t", $1) }?.tags.count == 49)
        }
    }

    @Test func `Topics are listed in pages, in the order of their names`() async throws {
        try await withRegistry { _, registry in
            let names = (0..<30).map { "topic-\($0)" }
            for name in names { _ = try await registry.ask { $0.createTopic(name, $1) } }
            var found: [String] = []
            var after: String?
            repeat {
                let page = try await registry.ask { [after] in $0.topics(after: after, limit: 10, $1) }
                found += page.items
                after = page.next
            } while after != nil
            #expect(found == names.sorted())
        }
    }
}
