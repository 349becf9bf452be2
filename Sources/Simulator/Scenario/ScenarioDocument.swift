internal import Yams

/// A YAML file as the values that control requests are made of, with the line of each.
struct ScenarioDocument {
    let value: ControlValue
    /// By path, such as `timeline[2].add_rule.match`; lines count from 1.
    private(set) var lines: [String: Int] = [:]
    /// The keys of each mapping in the order in which they stand, by its path.
    private(set) var order: [String: [String]] = [:]

    /// - Throws: ``ScenarioProblem``, when the text is not YAML or not of one mapping.
    init(text: String) throws(ScenarioProblem) {
        let root: Node?
        do {
            root = try Yams.compose(yaml: text)
        } catch let error as YamlError {
            throw ScenarioProblem(error)
        } catch {
            throw ScenarioProblem(path: "", text: "is not YAML: \(error)")
        }
        guard let root, root.mapping != nil else {
            throw ScenarioProblem(path: "", text: "must be a mapping of keys to values, with a timeline or rules")
        }
        var reader = Reader()
        self.value = try reader.value(of: root, at: "")
        self.lines = reader.lines
        self.order = reader.order
    }

    /// The line of what stands at a path, or else of what it would stand in.
    func line(of path: String) -> Int? {
        var path = path[...]
        while !path.isEmpty {
            if let line = self.lines[String(path)] { return line }
            guard let end = path.lastIndex(where: { $0 == "." || $0 == "[" }) else { return nil }
            path = path[..<end]
        }
        return nil
    }

    static func join(_ path: String, _ name: String) -> String {
        path.isEmpty || name.isEmpty ? path + name : "\(path).\(name)"
    }

    private static let capacity = 100_000

    private struct Reader {
        var lines: [String: Int] = [:]
        var order: [String: [String]] = [:]
        var count = 0

        mutating func value(of node: Node, at path: String) throws(ScenarioProblem) -> ControlValue {
            self.count += 1
            // Aliases of aliases make a short text endless.
            guard self.count <= ScenarioDocument.capacity else {
                throw ScenarioProblem(text: "holds more than \(ScenarioDocument.capacity) values")
            }
            if self.lines[path] == nil { self.lines[path] = node.mark?.line }
            if let mapping = node.mapping {
                var fields: [String: ControlValue] = [:]
                for (keyNode, valueNode) in mapping {
                    guard let key = keyNode.scalar?.string else {
                        throw ScenarioProblem(
                            path: path,
                            text: "has a key that is not a text",
                            line: keyNode.mark?.line
                        )
                    }
                    let place = ScenarioDocument.join(path, key)
                    self.lines[place] = keyNode.mark?.line
                    self.order[path, default: []].append(key)
                    fields[key] = try self.value(of: valueNode, at: place)
                }
                return .object(fields)
            }
            if let sequence = node.sequence {
                var values: [ControlValue] = []
                for (index, element) in sequence.enumerated() {
                    values.append(try self.value(of: element, at: "\(path)[\(index)]"))
                }
                return .array(values)
            }
            guard let scalar = node.scalar else {
                throw ScenarioProblem(path: path, text: "must be written out: aliases are not known here")
            }
            return Self.value(of: scalar)
        }

        /// Plain words as YAML's core schema reads them (YAML 1.2.2 §10.3.2), except that what could be a device token
        /// stays a text: digits after a leading zero, more digits than a number has, and exponents.
        private static func value(of scalar: Node.Scalar) -> ControlValue {
            let text = scalar.string
            guard scalar.style == .plain else { return .string(text) }
            switch text {
            case "", "~", "null", "Null", "NULL": return .null
            case "true", "True", "TRUE": return .bool(true)
            case "false", "False", "FALSE": return .bool(false)
            default: break
            }
            let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
            guard let first = digits.first, first.isASCII, first.isNumber else { return .string(text) }
            if digits.hasPrefix("0"), digits != "0", !digits.hasPrefix("0.") { return .string(text) }
            if let number = Int64(text) { return .integer(number) }
            guard digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }), digits.contains("."),
                let number = Double(text)
            else { return .string(text) }
            return .number(number)
        }
    }
}

/// Something in a scenario that cannot be used.
package struct ScenarioProblem: Error, Equatable, Sendable {
    /// Where it stands, such as `timeline[2].add_rule.match.probability`; empty for the whole file.
    package let path: String
    /// What is wrong with it, and what would do.
    package let text: String
    /// Counts from 1.
    package var line: Int?

    package init(path: String = "", text: String, line: Int? = nil) {
        self.path = path
        self.text = text
        self.line = line
    }
}

extension ScenarioProblem {
    fileprivate init(_ error: YamlError) {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            self.init(path: "", text: "is not YAML: \(problem)", line: mark.line)
        case .duplicatedKeysInMapping(let keys, let context):
            self.init(
                path: "",
                text: "has \(keys.joined(separator: ", ")) twice in one mapping",
                line: context.mark.line
            )
        default: self.init(path: "", text: "is not YAML: \(error)")
        }
    }
}
