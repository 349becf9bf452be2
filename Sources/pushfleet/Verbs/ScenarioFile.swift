internal import Foundation
internal import Simulator

/// Scenario files of `pushfleet simulator`.
enum ScenarioFile {
    /// Reads one; names of files in it are relative to where it stands.
    /// - Throws: `ConfigurationFailure`, with all that is wrong.
    static func read(_ path: String) throws -> Scenario {
        let text: String
        do throws(ValueFault) {
            text = try ConfigurationLoader.read(path)
        } catch {
            throw ConfigurationFailure(problems: [ConfigurationProblem(place: path, text: error.phrase)])
        }
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent()
        do throws(ScenarioFailure) {
            return try Scenario(text: text) { name throws(ScenarioProblem) in
                let file = URL(fileURLWithPath: name, relativeTo: directory).path
                do throws(ValueFault) {
                    return try ConfigurationLoader.read(file)
                } catch {
                    throw ScenarioProblem(path: "", text: "\(file) \(error.phrase)")
                }
            }
        } catch {
            throw ConfigurationFailure(
                problems: error.problems.map {
                    ConfigurationProblem(
                        place: path,
                        key: $0.path.isEmpty ? nil : $0.path,
                        text: $0.text,
                        line: $0.line
                    )
                }
            )
        }
    }

    /// Reads all, says what each good one is about, and throws what is wrong with the others.
    static func check(_ paths: [String]) throws {
        var problems: [ConfigurationProblem] = []
        for path in paths {
            do {
                let scenario = try self.read(path)
                let steps = scenario.stepCount == 1 ? "1 step" : "\(scenario.stepCount) steps"
                Terminal.print("\(path): ok, \(steps): \(scenario.title)")
            } catch let failure as ConfigurationFailure {
                problems += failure.problems
            }
        }
        guard problems.isEmpty else { throw ConfigurationFailure(problems: problems) }
    }
}
