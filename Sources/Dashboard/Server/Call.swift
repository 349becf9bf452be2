internal import Push

/// One request, whole, as routes need it.
struct Call: Sendable {
    let method: String
    /// As received, without the query.
    let path: String
    /// As received, without the question mark.
    let query: String
    /// Names in lower case.
    let headers: [(name: String, value: String)]
    var body: [UInt8] = []
    /// The address that the connection comes from.
    let address: String
    let isTLS: Bool
    let time: MonotonicTime

    /// The first value of a header.
    func header(_ name: String) -> String? { self.headers.first { $0.name == name }?.value }

    /// All values of a header.
    func headers(_ name: String) -> [String] { self.headers.filter { $0.name == name }.map(\.value) }

    /// The value of a cookie. Of two of one name the first counts, which has the longer path (RFC 6265, 5.4).
    func cookie(_ name: String) -> String? {
        for line in self.headers("cookie") {
            for pair in line.split(separator: ";") {
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2, parts[0].trimming == name[...] else { continue }
                return String(parts[1].trimming)
            }
        }
        return nil
    }
}

extension Substring {
    /// Without spaces and tabs at both ends.
    fileprivate var trimming: Substring {
        let start = self.drop { $0 == " " || $0 == "\t" }
        guard let end = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
        return start[...end]
    }
}
