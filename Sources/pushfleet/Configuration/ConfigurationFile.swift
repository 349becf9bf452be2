internal import Push
internal import Yams

/// The YAML file as it stands: every key it sets, checked against the table of keys but not for its values.
struct ConfigurationFile {
    /// A key that the file sets.
    struct Entry: Equatable {
        let path: [String]
        let value: String
        let line: Int?
    }

    /// The file's name, as problems name it.
    let name: String
    private(set) var entries: [Entry] = []
    /// The names below `apps` and `credentials`, with the line each stands in.
    private(set) var names: [String: [(name: String, line: Int?)]] = [:]
    private(set) var problems: [ConfigurationProblem] = []

    /// A file that is not there sets nothing.
    init(empty name: String) {
        self.name = name
    }

    init(text: String, name: String) {
        self.name = name
        do {
            guard let root = try Yams.compose(yaml: text), !Self.isNull(root) else { return }
            guard let mapping = root.mapping else {
                self.report("is not a mapping of keys to values; see deploy/pushfleet.example.yaml", nil, root)
                return
            }
            self.walk(mapping, below: [])
        } catch let error as YamlError {
            self.report(error)
        } catch {
            self.report("is not YAML: \(error)", nil, nil)
        }
    }

    private mutating func walk(_ mapping: Node.Mapping, below path: [String]) {
        let words = SettingsTable.words(below: path)
        for (keyNode, value) in mapping {
            guard let key = keyNode.string else {
                self.report("has a key that is not a plain text", path, keyNode)
                continue
            }
            let keyPath = path + [key]
            guard words == ["*"] || words.contains(key) else {
                self.report(Self.unknown(key, below: path, words), keyPath, keyNode)
                continue
            }
            if words == ["*"] { self.names[path[0], default: []].append((key, keyNode.mark?.line)) }
            let below = SettingsTable.words(below: keyPath)
            if let section = value.mapping, !below.isEmpty {
                self.walk(section, below: keyPath)
            } else if !below.isEmpty {
                // A section that holds nothing says nothing.
                guard !Self.isNull(value) else { continue }
                let keys = below == ["*"] ? "names" : below.joined(separator: ", ")
                self.report("must be a section with keys below it: \(keys)", keyPath, keyNode)
            } else if let scalar = value.scalar {
                guard !Self.isNull(value), !scalar.string.isEmpty else { continue }
                self.entries.append(Entry(path: keyPath, value: scalar.string, line: keyNode.mark?.line))
            } else {
                self.report("must be one value, not a list or a section", keyPath, keyNode)
            }
        }
    }

    /// What to say about a key that is not in the table.
    private static func unknown(_ key: String, below path: [String], _ words: [String]) -> String {
        if let near = EditDistance.nearest(to: key.utf8, among: words) {
            return "is not a key; did you mean \((path + [near]).joined(separator: "."))?"
        }
        // The right word in the wrong section.
        if let elsewhere = SettingsTable.keys.first(where: { $0.path.last == key }) {
            return "is not a key; did you mean \(elsewhere.pattern)?"
        }
        let place = path.isEmpty ? "the sections are" : "the keys here are"
        return "is not a key; \(place) \(words.joined(separator: ", "))"
    }

    private static func isNull(_ node: Node) -> Bool {
        guard let scalar = node.scalar, scalar.style == .plain else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(scalar.string)
    }

    private mutating func report(_ text: String, _ path: [String]?, _ node: Node?) {
        self.problems.append(
            ConfigurationProblem(
                place: self.name,
                key: path.map { $0.joined(separator: ".") },
                text: text,
                line: node?.mark?.line
            )
        )
    }

    private mutating func report(_ error: YamlError) {
        let (text, line): (String, Int?) =
            switch error {
            case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
                .composer(_, let problem, let mark, _):
                ("is not YAML: \(problem)", mark.line)
            case .duplicatedKeysInMapping(let keys, let context):
                ("has \(keys.joined(separator: ", ")) twice in one section", context.mark.line)
            default: ("is not YAML: \(error)", nil)
            }
        self.problems.append(ConfigurationProblem(place: self.name, text: text, line: line))
    }
}
