internal import Push
internal import Yams

/// The YAML file as it stands, or one app from elsewhere: every key it sets, checked against the table of keys but not for
/// its values.
struct ConfigurationFile {
    /// A key that the file sets.
    struct Entry: Equatable {
        let path: [String]
        let value: String
        let line: Int?
    }

    /// The file's name, as problems name it.
    let name: String
    /// What values from here say of themselves.
    private(set) var origin = EffectiveValue.Origin.file
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
            self.report(error, in: text)
        } catch {
            self.report("is not YAML: \(error)", nil, nil)
        }
    }

    /// One app that stands alone, with the keys that it would have below its name in the file.
    /// - Parameters:
    ///   - text: YAML, and so JSON too.
    ///   - name: of what it was read from.
    init(app: String, text: String, name: String, origin: EffectiveValue.Origin) {
        var root: Node?
        var problem: (any Error)?
        do {
            root = try Yams.compose(yaml: text)
        } catch {
            problem = error
        }
        guard let problem else {
            self.init(app: app, root ?? Node(""), name: name, origin: origin)
            return
        }
        self.init(app: app, name: name, origin: origin)
        if let problem = problem as? YamlError {
            self.report(problem, in: text)
        } else {
            self.report("is not YAML: \(problem)", ["apps", app], nil)
        }
    }

    /// As before, from pairs such as `retry.min_backoff` and `10s`. A key that comes twice is a problem.
    init(app: String, pairs: [(key: String, value: String)], name: String) {
        var tree = Node.Mapping([])
        for (key, value) in pairs {
            Self.set(
                Node(value, Tag(.str), .doubleQuoted),
                at: key.split(separator: ".").map(String.init)[...],
                in: &tree
            )
        }
        self.init(app: app, .mapping(tree), name: name, origin: .file)
        for (key, count) in Dictionary(grouping: pairs, by: \.key).mapValues(\.count) where count > 1 {
            self.report("is given \(count) times; keep one of them", ["apps", app, key], nil)
        }
    }

    /// The credential that an app names; nil for none.
    func credential(of app: String) -> String? {
        self.entries.first { $0.path == ["apps", app, "credential"] }?.value
    }

    /// Has an app name a credential, if it names none.
    mutating func name(credential: String, for app: String) {
        guard self.credential(of: app) == nil else { return }
        self.entries.append(Entry(path: ["apps", app, "credential"], value: credential, line: nil))
    }

    private init(app: String, name: String, origin: EffectiveValue.Origin) {
        self.name = name
        self.origin = origin
        self.names["apps"] = [(app, nil)]
    }

    private init(app: String, _ root: Node, name: String, origin: EffectiveValue.Origin) {
        self.init(app: app, name: name, origin: origin)
        guard let mapping = root.mapping else {
            let keys = SettingsTable.words(below: ["apps", app]).joined(separator: ", ")
            self.report("is not an object with the keys of an app: \(keys)", ["apps", app], nil)
            return
        }
        self.walk(mapping, below: ["apps", app])
    }

    private static func set(_ value: Node, at path: ArraySlice<String>, in tree: inout Node.Mapping) {
        guard let first = path.first else { return }
        guard path.count > 1 else {
            tree[Node(first)] = value
            return
        }
        var below = tree[Node(first)]?.mapping ?? Node.Mapping([])
        Self.set(value, at: path.dropFirst(), in: &below)
        tree[Node(first)] = .mapping(below)
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
                line: self.origin == .file ? node?.mark?.line : nil
            )
        )
    }

    private mutating func report(_ error: YamlError, in text: String) {
        let (text, line): (String, Int?) =
            switch error {
            case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
                .composer(_, let problem, let mark, _):
                ("is not YAML: \(problem)", mark.line)
            case .duplicatedKeysInMapping(let keys, let context):
                (Self.duplicate(of: keys[0], at: context.mark, in: text), context.mark.line)
            default: ("is not YAML: \(error)", nil)
            }
        let app = self.origin == .file ? nil : self.names["apps"]?.first?.name
        self.problems.append(
            ConfigurationProblem(
                place: self.name,
                key: app.map { "apps.\($0)" },
                text: text,
                line: app == nil ? line : nil
            )
        )
    }

    /// What to say about a key that stands twice, with the line of the second one where keys have lines of their own.
    private static func duplicate(of key: String, at mark: Mark, in text: String) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { Substring($0) }
        var second: Int?
        for (index, line) in lines.enumerated().dropFirst(mark.line) {
            let content = line.drop { $0 == " " }
            guard let first = content.first, first != "#" else { continue }
            let indent = line.count - content.count
            guard indent >= mark.column - 1 else { break }
            let word = content.prefix { $0 != ":" }.trimming { " \"'".contains($0) }
            guard indent == mark.column - 1, word == key else { continue }
            second = index + 1
            break
        }
        let again = second.map { ", again in line \($0)" } ?? ""
        return "has \(key) twice in one section\(again); keep one of them"
    }
}

extension Substring {
    fileprivate func trimming(_ isToGo: (Character) -> Bool) -> Substring {
        var rest = self.drop(while: isToGo)
        while let last = rest.last, isToGo(last) { rest.removeLast() }
        return rest
    }
}
