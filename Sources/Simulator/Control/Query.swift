internal import Hummingbird
internal import Push

/// The parameters of a request's query, taken out one by one; what is left over at the end is an error.
struct Query {
    private var rest: [String: String] = [:]
    private var known: [String] = []

    init(_ request: Request) {
        for (name, value) in request.uri.queryParameters { self.rest[String(name)] = String(value) }
    }

    mutating func string(_ name: String) -> String? {
        self.known.append(name)
        return self.rest.removeValue(forKey: name)
    }

    mutating func integer(_ name: String, in range: ClosedRange<Int64>) throws(BadField) -> Int64? {
        guard let text = self.string(name) else { return nil }
        guard let number = Int64(text), range.contains(number) else {
            throw BadField(
                field: name,
                problem: "must be a whole number from \(range.lowerBound) to \(range.upperBound)"
            )
        }
        return number
    }

    mutating func bool(_ name: String) throws(BadField) -> Bool? {
        guard let text = self.string(name) else { return nil }
        guard let flag = Bool(text) else { throw BadField(field: name, problem: "must be true or false") }
        return flag
    }

    /// See ``Span``.
    mutating func span(_ name: String, most: Duration) throws(BadField) -> Duration? {
        guard let text = self.string(name) else { return nil }
        guard let span = Span.parse(text), span <= most else {
            throw BadField(field: name, problem: "\(Span.problem), here at most \(most.milliseconds / 1000)s")
        }
        return span
    }

    func end() throws(BadField) {
        guard let name = self.rest.keys.sorted().first else { return }
        let allowed = self.known.isEmpty ? "no parameters are" : self.known.joined(separator: ", ") + " are"
        throw BadField(field: name, problem: "is not known here; \(allowed)")
    }
}
