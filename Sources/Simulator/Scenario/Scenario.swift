/// A simulator's part, written down: how it starts, and what happens when.
package struct Scenario: Equatable, Sendable {
    /// What it is about; the first sentence is its title.
    package let description: String
    /// nil: the simulator's own.
    let seed: UInt64?
    /// Carried out before it listens, and again after a reset.
    let orders: [ControlOrder]
    let timeline: Timeline

    /// Reads a scenario.
    /// - Parameters:
    ///   - text: YAML.
    ///   - readFile: gives the text of a file that the scenario names, or throws what is wrong with it.
    /// - Throws: ``ScenarioFailure``, with all that is wrong.
    package init(
        text: String,
        readFile: (String) throws(ScenarioProblem) -> String
    ) throws(ScenarioFailure) {
        let document: ScenarioDocument
        do throws(ScenarioProblem) {
            document = try ScenarioDocument(text: text)
        } catch {
            throw ScenarioFailure(problems: [error])
        }
        var reader = ScenarioReader(document)
        let scenario = withoutActuallyEscaping(readFile) { reader.read(readFile: $0) }
        guard let scenario, reader.problems.isEmpty else { throw ScenarioFailure(problems: reader.problems) }
        self = scenario
    }

    init(description: String, seed: UInt64?, orders: [ControlOrder], timeline: Timeline) {
        self.description = description
        self.seed = seed
        self.orders = orders
        self.timeline = timeline
    }

    /// The first sentence of the description.
    package var title: String {
        let text = self.description.split(separator: "\n").joined(separator: " ")
        guard let end = text.firstRange(of: ". ") else { return text }
        return String(text[..<end.lowerBound]) + "."
    }

    /// How many steps its timeline has.
    package var stepCount: Int { self.timeline.steps.count }
}

/// A scenario cannot be used.
package struct ScenarioFailure: Error, Equatable, Sendable {
    /// In the order of their lines.
    package let problems: [ScenarioProblem]
}
