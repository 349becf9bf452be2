internal import Push

/// A value in a control request cannot be used.
struct BadField: Error, Equatable {
    /// Where it stands, such as `match.probability`.
    let field: String
    /// What is wrong with it, and what would do.
    let problem: String
}

/// The fields of one JSON object, taken out one by one; what is left over at the end is an error.
struct Fields {
    private let path: String
    private var rest: [String: ControlValue]
    private var known: [String] = []

    /// - Parameter path: where the object stands; empty for the outermost one.
    init(_ value: ControlValue, at path: String = "") throws(BadField) {
        guard case .object(let fields) = value else {
            throw BadField(field: path.isEmpty ? "body" : path, problem: "must be an object, not \(value.kind)")
        }
        self.path = path
        self.rest = fields
    }

    /// The field's full name.
    func place(_ name: String) -> String { self.path.isEmpty ? name : "\(self.path).\(name)" }

    func error(_ name: String, _ problem: String) -> BadField {
        BadField(field: self.place(name), problem: problem)
    }

    /// The field's value; nil when it is absent or null.
    mutating func take(_ name: String) -> ControlValue? {
        self.known.append(name)
        guard let value = self.rest.removeValue(forKey: name), value != .null else { return nil }
        return value
    }

    mutating func string(_ name: String) throws(BadField) -> String? {
        guard let value = self.take(name) else { return nil }
        guard case .string(let text) = value else {
            throw self.error(name, "must be a string, not \(value.kind)")
        }
        return text
    }

    mutating func requiredString(_ name: String) throws(BadField) -> String {
        guard let text = try self.string(name), !text.isEmpty else {
            throw self.error(name, "is required: a string that is not empty")
        }
        return text
    }

    mutating func bool(_ name: String) throws(BadField) -> Bool? {
        guard let value = self.take(name) else { return nil }
        guard case .bool(let flag) = value else {
            throw self.error(name, "must be true or false, not \(value.kind)")
        }
        return flag
    }

    mutating func integer(_ name: String, in range: ClosedRange<Int64>) throws(BadField) -> Int64? {
        guard let value = self.take(name) else { return nil }
        guard case .integer(let number) = value, range.contains(number) else {
            throw self.error(name, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    mutating func number(_ name: String, in range: ClosedRange<Double>) throws(BadField) -> Double? {
        guard let value = self.take(name) else { return nil }
        let number: Double? =
            switch value {
            case .integer(let whole): Double(whole)
            case .number(let number): number
            default: nil
            }
        guard let number, range.contains(number) else {
            throw self.error(name, "must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    mutating func strings(_ name: String) throws(BadField) -> [String]? {
        guard let value = self.take(name) else { return nil }
        guard case .array(let values) = value else { throw self.error(name, "must be an array of strings") }
        var texts: [String] = []
        for value in values {
            guard case .string(let text) = value else { throw self.error(name, "must be an array of strings") }
            texts.append(text)
        }
        return texts
    }

    /// One of a closed set of words.
    mutating func choice<Choice: RawRepresentable & CaseIterable>(
        _ name: String,
        of: Choice.Type
    ) throws(BadField) -> Choice? where Choice.RawValue == String {
        guard let text = try self.string(name) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            let words = Choice.allCases.map(\.rawValue)
            let hint = EditDistance.nearest(to: text.utf8, among: words).map { "; did you mean \($0)?" } ?? ""
            throw self.error(name, "must be one of \(words.joined(separator: ", "))\(hint)")
        }
        return choice
    }

    /// - Throws: when something is left that nobody asked for.
    func end() throws(BadField) {
        guard let name = self.rest.keys.sorted().first else { return }
        if let near = EditDistance.nearest(to: name.utf8, among: self.known) {
            throw self.error(name, "is not known here; did you mean \(near)?")
        }
        let allowed = self.known.isEmpty ? "no fields are" : self.known.joined(separator: ", ") + " are"
        throw self.error(name, "is not known here; \(allowed)")
    }
}
