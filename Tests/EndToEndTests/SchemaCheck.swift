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
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = ["-c", Self.script, "\(Repository.root)/deploy/contract/\(schema)"] + files
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, sourceLocation: sourceLocation)
        #expect(said.isEmpty, "\(schema): \(said)", sourceLocation: sourceLocation)
    }
}
