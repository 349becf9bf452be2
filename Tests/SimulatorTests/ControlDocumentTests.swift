import Foundation
import TestServers
import Testing
import Yams

@testable import Simulator

@Suite struct ControlDocumentTests {
    @Test func `Every route is in the OpenAPI file, and the file has no other`() async throws {
        let text = try String(contentsOfFile: "\(Repository.root)/deploy/simulator/openapi.yaml", encoding: .utf8)
        let document = try #require(try Yams.compose(yaml: text))
        let paths = try #require(document["paths"]?.mapping)
        let methods = ["get", "put", "post", "delete", "patch"]
        var documented: [String] = []
        for (path, item) in paths {
            for (method, _) in item.mapping ?? [:] {
                guard let path = path.string, let method = method.string, methods.contains(method) else { continue }
                documented.append("\(method.uppercased()) \(path)")
            }
        }
        var settings = Bench.settings
        settings.controlPort = nil
        let simulator = try await Simulator.start(settings)
        let operations = ControlRoutes(desk: simulator.desk).operations
        await simulator.stop()
        #expect(operations.count > 20)
        #expect(Set(operations).subtracting(documented) == [], "not in the file")
        #expect(Set(documented).subtracting(operations) == [], "only in the file")
    }

    @Test func `Every shipped scenario can be read, and says what it is about`() throws {
        let folder = "\(Repository.root)/deploy/simulator/scenarios"
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".yaml") }
        #expect(files.count == 12)
        for file in files {
            let text = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
            let scenario = try Scenario(text: text) { _ throws(ScenarioProblem) in "" }
            #expect(!scenario.title.isEmpty && scenario.title.count < 200, "\(file)")
        }
    }
}
