internal import Configuration
internal import Foundation
internal import Push

/// All keys with the values that hold: environment over file over default, each parsed by its kind.
struct SettingValues {
    private struct Entry {
        let value: SettingKey.Value?
        let isBroken: Bool
        let origin: EffectiveValue.Origin
        let line: Int?
    }

    private let fileName: String
    private var entries: [[String]: Entry] = [:]
    private(set) var effective: [EffectiveValue] = []
    private(set) var problems: [ConfigurationProblem] = []

    /// - Parameter sections: those that count; nil for all.
    init(file: ConfigurationFile, environment: [String: String], sections: [String]? = nil) {
        self.fileName = file.name
        let fileValues = Dictionary(
            file.entries.map { (AbsoluteConfigKey($0.path), ConfigValue(.string($0.value), isSecret: true)) },
            uniquingKeysWith: { _, last in last }
        )
        let lines = Dictionary(file.entries.map { ($0.path, $0.line) }, uniquingKeysWith: { _, last in last })
        // An empty variable is one that is not set: that is how shells and compose files clear them.
        let variables = environment.filter { !$0.value.isEmpty }
        let recorder = OriginRecorder()
        let reader = ConfigReader(
            providers: [
                EnvironmentVariablesProvider(environmentVariables: variables).prefixKeys(with: "pushfleet"),
                InMemoryProvider(name: "file", values: fileValues),
            ],
            accessReporter: recorder
        )
        var owners: [String: [String]] = [:]
        for (key, path) in Self.paths(sections ?? SettingsTable.words(below: []), names: file.names) {
            let text = reader.string(forKey: ConfigKey(path), isSecret: true)
            let (variable, isFromEnvironment) = recorder.environment
            owners[variable, default: []].append(path.joined(separator: "."))
            let origin: EffectiveValue.Origin =
                text == nil
                ? (key.standard == nil ? .unset : .standard) : isFromEnvironment ? .environment(variable) : file.origin
            self.add(key, at: path, text: text, origin: origin, line: lines[path] ?? nil)
        }
        self.checkVariables(variables, owners: owners)
    }

    /// Every row of the table with its names filled in, name by name.
    private static func paths(
        _ sections: [String],
        names: [String: [(name: String, line: Int?)]]
    ) -> [(SettingKey, [String])] {
        sections.flatMap { section -> [(SettingKey, [String])] in
            let keys = SettingsTable.keys.filter { $0.path[0] == section }
            guard SettingsTable.words(below: [section]) == ["*"] else { return keys.map { ($0, $0.path) } }
            return (names[section] ?? []).flatMap { name in
                keys.map { ($0, [section, name.name] + $0.path.dropFirst(2)) }
            }
        }
    }

    private mutating func add(
        _ key: SettingKey,
        at path: [String],
        text: String?,
        origin: EffectiveValue.Origin,
        line: Int?
    ) {
        let name = path.joined(separator: ".")
        let line = origin == .file ? line : nil
        var value: SettingKey.Value?
        var isBroken = false
        do throws(ValueFault) {
            value = try text.map { text throws(ValueFault) in try key.parse(text) }
        } catch {
            isBroken = true
            let shown = key.isSecret ? "the value" : Quoted.text((text ?? "").utf8)
            self.problems.append(
                ConfigurationProblem(
                    place: self.place(of: origin),
                    key: name,
                    text: "\(shown) \(error.phrase)",
                    line: line
                )
            )
        }
        if text == nil { value = key.standard.flatMap { try? key.parse($0) } }
        if text == nil, key.isRequired {
            self.problems.append(
                ConfigurationProblem(
                    place: self.fileName,
                    key: name,
                    text: "is missing; \(Self.lowercasedFirst(key.sentence))"
                )
            )
        }
        self.entries[path] = Entry(value: value, isBroken: isBroken, origin: origin, line: line)
        let shown = text.map { key.isSecret ? EffectiveValue.masked($0) : $0 } ?? key.standard ?? ""
        self.effective.append(EffectiveValue(key: name, value: shown, origin: origin))
    }

    private static func lowercasedFirst(_ sentence: String) -> String {
        let isAcronym = sentence.prefix(3).allSatisfy { $0.isUppercase }
        let trimmed = sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
        return isAcronym ? trimmed : trimmed.prefix(1).lowercased() + trimmed.dropFirst()
    }

    /// Finds variables with the prefix that name no key, and those that name two.
    private mutating func checkVariables(_ variables: [String: String], owners: [String: [String]]) {
        for name in variables.keys.sorted() where name.hasPrefix("PUSHFLEET_") {
            if let keys = owners[name], keys.count > 1 {
                self.problems.append(
                    ConfigurationProblem(
                        place: name,
                        text: "stands for \(keys.joined(separator: " and ")); set them in the file"
                    )
                )
            }
            // Container platforms add variables for a service that happens to be called pushfleet.
            guard owners[name] == nil, name != "PUSHFLEET_CONFIG" else { continue }
            let isLink = name.hasSuffix("_SERVICE_HOST") || name.contains("_PORT") || name.contains("_SERVICE_PORT")
            guard !isLink else { continue }
            let near = EditDistance.nearest(to: name.utf8, among: owners.keys).map { "; did you mean \($0)?" } ?? ""
            self.problems.append(
                ConfigurationProblem(severity: .warning, place: name, text: "names no key and does nothing\(near)")
            )
        }
    }

    // MARK: Asking

    /// Where a problem of this key is to be mended: the file, or the variable.
    func place(of path: [String]) -> String { self.place(of: self.entries[path]?.origin ?? .unset) }

    private func place(of origin: EffectiveValue.Origin) -> String {
        if case .environment(let name) = origin { name } else { self.fileName }
    }

    /// What is wrong with a key, and where it is to be mended.
    func problem(
        at path: [String],
        _ text: String,
        _ severity: ConfigurationProblem.Severity
    ) -> ConfigurationProblem {
        ConfigurationProblem(
            severity: severity,
            place: self.place(of: path),
            key: path.joined(separator: "."),
            text: text,
            line: self.line(of: path)
        )
    }

    /// The line of the file that sets the key.
    func line(of path: [String]) -> Int? { self.entries[path]?.line }

    func origin(of path: [String]) -> EffectiveValue.Origin { self.entries[path]?.origin ?? .unset }

    /// Whether one of the keys below has a value that was refused, so that rules between them make no sense yet.
    func hasBroken(below path: [String]) -> Bool {
        self.entries.contains { $0.value.isBroken && $0.key.starts(with: path) }
    }

    func text(_ path: String...) -> String? {
        if case .text(let text) = self.entries[path]?.value { text } else { nil }
    }

    func number(_ path: String...) -> Int? {
        if case .number(let number) = self.entries[path]?.value { number } else { nil }
    }

    func duration(_ path: String...) -> Duration? {
        if case .duration(let duration) = self.entries[path]?.value { duration } else { nil }
    }
}
