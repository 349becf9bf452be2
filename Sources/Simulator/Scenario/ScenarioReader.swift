internal import Push

/// Makes a scenario of a document, and gathers everything that is wrong with it.
struct ScenarioReader {
    private let document: ScenarioDocument
    private var found: [ScenarioProblem] = []

    init(_ document: ScenarioDocument) {
        self.document = document
    }

    /// By line.
    var problems: [ScenarioProblem] {
        self.found.enumerated().sorted { ($0.element.line ?? 0, $0.offset) < ($1.element.line ?? 0, $1.offset) }
            .map(\.element)
    }

    /// - Returns: nil when nothing can be made of it; what else is wrong is among the problems.
    mutating func read(readFile: (String) throws(ScenarioProblem) -> String) -> Scenario? {
        guard var fields = self.attempt("", { document throws(BadField) in try Fields(document.value) }) else {
            return nil
        }
        let description = self.attempt("") { _ throws(BadField) in try fields.requiredString("description") }
        let seed = self.attempt("") { _ throws(BadField) in try fields.integer("seed", in: 0...Int64.max) } ?? nil
        let origin = self.attempt("") { _ throws(BadField) in try fields.choice("begins", of: Timeline.Origin.self) }
        var orders: [ControlOrder] = []
        if let value = fields.take("start") {
            let settings = self.attempt("start") { _ throws(BadField) in try SettingsOrder(json: value) }
            if let settings { orders.append(.settings(settings)) }
        }
        orders += self.keys(fields.take("keys"), readFile: readFile)
        orders += self.list(fields.take("tokens"), "tokens", as: .setToken)
        orders += self.list(fields.take("rules"), "rules", as: .addRule)
        let steps = self.steps(fields.take("timeline"))
        _ = self.attempt("") { _ throws(BadField) in try fields.end() }
        self.checkNames(orders: orders, steps: steps)
        return Scenario(
            description: description ?? "",
            seed: seed.map { UInt64($0) },
            orders: orders,
            timeline: Timeline(steps: steps.map(\.step), origin: (origin ?? nil) ?? .start)
        )
    }

    // MARK: Parts

    private mutating func list(_ value: ControlValue?, _ path: String, as name: ControlOrder.Name) -> [ControlOrder] {
        self.elements(value, path).compactMap { value, path in
            self.attempt(path) { _ throws(BadField) in try ControlOrder(name, json: value) }
        }
    }

    private mutating func keys(
        _ value: ControlValue?,
        readFile: (String) throws(ScenarioProblem) -> String
    ) -> [ControlOrder] {
        self.elements(value, "keys").compactMap { value, path in
            guard case .object(var object) = value else {
                return self.attempt(path) { _ throws(BadField) in try ControlOrder(.addKey, json: value) }
            }
            if let name = object.removeValue(forKey: "public_key_file") {
                guard case .string(let file) = name, object["public_key"] == nil else {
                    self.report("\(path).public_key_file", "must be the name of a file, instead of public_key")
                    return nil
                }
                do throws(ScenarioProblem) {
                    object["public_key"] = .string(try readFile(file))
                } catch {
                    self.report("\(path).public_key_file", error.text)
                    return nil
                }
            }
            return self.order(.addKey, .object(object), at: path)
        }
    }

    /// An order whose parts fit together.
    private mutating func order(_ name: ControlOrder.Name, _ json: ControlValue, at path: String) -> ControlOrder? {
        guard let order = self.attempt(path, { _ throws(BadField) in try ControlOrder(name, json: json) }) else {
            return nil
        }
        if case .addKey(let key) = order, (try? RegisteredKey(key)) == nil {
            self.report("\(path).public_key", "must be PEM of a P-256 public key")
            return nil
        }
        return order
    }

    private mutating func steps(_ value: ControlValue?) -> [(step: Timeline.Step, path: String)] {
        self.elements(value, "timeline").compactMap { value, path in
            guard case .object(let object) = value else {
                self.report(path, "must be a step: at or after, and what to do")
                return nil
            }
            let trigger = self.attempt(path) { _ throws(BadField) in try Self.trigger(object) }
            let repetition =
                self.attempt(path) { _ throws(BadField) in try object["repeat"].map(Self.repetition) } ?? nil
            var orders: [ControlOrder] = []
            let words = ControlOrder.Name.allCases.map(\.rawValue)
            for key in self.document.order[path] ?? [] where !Self.stepWords.contains(key) {
                guard let name = ControlOrder.Name(rawValue: key) else {
                    let near = EditDistance.nearest(to: key.utf8, among: words + Self.stepWords)
                    let fix = near.map { "did you mean \($0)?" } ?? "the orders are \(words.joined(separator: ", "))"
                    self.report("\(path).\(key)", "is not known here; \(fix)")
                    continue
                }
                if let order = self.order(name, object[key] ?? .null, at: "\(path).\(key)") { orders.append(order) }
            }
            if !(self.document.order[path] ?? []).contains(where: { !Self.stepWords.contains($0) }) {
                self.report(path, "does nothing; add one of \(words.joined(separator: ", "))")
            }
            guard let trigger else { return nil }
            return (Timeline.Step(trigger: trigger, orders: orders, repetition: repetition), path)
        }
    }

    private static let stepWords = ["at", "after", "repeat"]

    private static func trigger(_ step: [String: ControlValue]) throws(BadField) -> Timeline.Trigger {
        switch (step["at"], step["after"]) {
        case (let time?, nil):
            var fields = try Fields(.object(["at": time]))
            guard let duration = try fields.span("at") else { throw fields.error("at", "is required: such as 2s") }
            return .time(duration)
        case (nil, let counts?):
            var fields = try Fields(counts, at: "after")
            var trigger: Timeline.Trigger?
            for counter in Timeline.Counter.allCases {
                guard let count = try fields.integer(counter.rawValue, in: 1...Int64(Int32.max)) else { continue }
                if trigger != nil { throw fields.error(counter.rawValue, "cannot stand beside another count") }
                trigger = .count(counter, Int(count))
            }
            try fields.end()
            let counters = Timeline.Counter.allCases.map(\.rawValue).joined(separator: ", ")
            guard let trigger else { throw BadField(field: "after", problem: "must hold one of \(counters)") }
            return trigger
        case (_?, _?): throw BadField(field: "after", problem: "cannot stand beside at")
        case (nil, nil):
            throw BadField(field: "", problem: "needs at, such as at: 2s, or after, such as after: {requests: 500}")
        }
    }

    private static func repetition(_ value: ControlValue) throws(BadField) -> Timeline.Repetition {
        var fields = try Fields(value, at: "repeat")
        guard let every = try fields.span("every"), every > .zero else {
            throw fields.error("every", "is required: a duration above zero, such as 1s")
        }
        let times = try fields.integer("times", in: 1...1_000_000).map { Int($0) }
        try fields.end()
        return Timeline.Repetition(every: every, times: times)
    }

    /// A rule that is taken back must have been added by someone.
    private mutating func checkNames(orders: [ControlOrder], steps: [(step: Timeline.Step, path: String)]) {
        var rules: [String] = []
        for case .addRule(let rule) in orders + steps.flatMap(\.step.orders) { rules.append(rule.id) }
        for (step, path) in steps {
            for case .removeRule(let id) in step.orders where !rules.contains(id) {
                let near = EditDistance.nearest(to: id.utf8, among: rules).map { "; did you mean \($0)?" } ?? ""
                self.report("\(path).remove_rule", "names no rule of this scenario\(near)")
            }
        }
    }

    // MARK: Problems

    private mutating func elements(_ value: ControlValue?, _ path: String) -> [(ControlValue, String)] {
        guard let value else { return [] }
        guard case .array(let values) = value else {
            self.report(path, "must be a list, not \(value.kind)")
            return []
        }
        return values.enumerated().map { ($0.element, "\(path)[\($0.offset)]") }
    }

    /// What comes of `body`; nil when it throws, which is noted.
    private mutating func attempt<Value>(
        _ path: String,
        _ body: (ScenarioDocument) throws(BadField) -> Value
    ) -> Value? {
        do throws(BadField) {
            return try body(self.document)
        } catch {
            // The outermost object of an order has no name of its own.
            let field = error.field == "body" ? "" : error.field
            self.report(ScenarioDocument.join(path, field), error.problem)
            return nil
        }
    }

    private mutating func report(_ path: String, _ text: String) {
        let hint = text.hasSuffix("must be a string, not a number") ? ": put it in quotes" : ""
        self.found.append(ScenarioProblem(path: path, text: text + hint, line: self.document.line(of: path)))
    }
}

extension Fields {
    /// See ``Span``.
    mutating func span(_ name: String) throws(BadField) -> Duration? {
        guard let value = self.take(name) else { return nil }
        if case .string(let text) = value, let span = Span.parse(text) { return span }
        throw self.error(name, Span.problem)
    }
}
