import Broker
import Foundation
import TestServers
import Testing

/// Holds real events against the schemas that are shipped, with Debian's jsonschema.
enum SchemaCheck {
    private static let script = """
        import json, sys, jsonschema
        schema = json.load(open(sys.argv[1]))
        checker = jsonschema.Draft202012Validator(schema)
        for path in sys.argv[2:]:
            for error in checker.iter_errors(json.load(open(path))):
                print(path.rsplit("/", 1)[-1], error.message[:200])
        """

    static func expect(
        _ events: [Delivery],
        fit schema: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        #expect(!events.isEmpty, sourceLocation: sourceLocation)
        let directory = try Repository.makeTemporaryDirectory("schema")
        defer { Repository.remove(directory) }
        var files: [String] = []
        for (index, event) in events.enumerated() {
            files.append("\(directory)/\(index).json")
            try Data(event.body).write(to: URL(fileURLWithPath: files[index]))
        }
        let contract = "\(Repository.root)/deploy/contract/\(schema)"
        let said = try Repository.run(["/usr/bin/python3", "-c", Self.script, contract] + files)
        #expect(said.isEmpty, "\(schema): \(said)", sourceLocation: sourceLocation)
    }
}
