/// The parameters of one request in Amazon's Query protocol, or of one structure within it.
///
/// Scalars are `Name=value`; lists `Name.member.N`, maps `Name.entry.N.key` with `.value`; an empty list is `Name=`.
/// The order in which pairs come does not matter. Work is linear in the bytes, times the depth of names; times the logarithm of
/// their count where lists are sorted.
package struct Parameters: Sendable {
    /// Parameters in one request. A batch of ten messages with a hundred attributes each stays below.
    package static let countLimit = 4096

    /// Bytes of a name as it is written.
    package static let nameLimit = 512

    /// Parts of a name between dots; Amazon's longest have eight.
    package static let depthLimit = 10

    /// The largest index of a list or map.
    package static let indexLimit = 10_000

    /// Bytes of a request's body that suffice for every call: 256 KiB of text grow threefold when they are encoded.
    package static let bodyLimit = 1024 * 1024

    struct Pair: Sendable {
        /// What is left of the name within this structure.
        var name: Substring
        var value: String
    }

    var pairs: [Pair]

    init(pairs: [Pair]) {
        self.pairs = pairs
    }

    /// Decodes a request.
    ///
    /// - Parameters:
    ///   - query: what stands after the `?` of the URL. Parameters of a pre-signed URL (`X-Amz-…`) are left out.
    ///   - body: of a POST; empty otherwise.
    /// - Throws: `MalformedQueryString` for what does not decode, comes twice, or is beyond the limits.
    package init(query: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer) throws(SNSError) {
        self.pairs = []
        try self.read(query, isURL: true)
        try self.read(body, isURL: false)
        try self.checkNames()
    }

    /// Decodes a request whose parameters are at hand as text.
    package init(query: String = "", body: String) throws(SNSError) {
        try self.init(query: Array(query.utf8), body: Array(body.utf8))
    }

    package init(query: [UInt8], body: [UInt8]) throws(SNSError) {
        self = try query.withUnsafeBufferPointer { (query) throws(SNSError) in
            try body.withUnsafeBufferPointer { (body) throws(SNSError) in
                try Parameters(query: UnsafeRawBufferPointer(query), body: UnsafeRawBufferPointer(body))
            }
        }
    }

    private mutating func read(_ text: UnsafeRawBufferPointer, isURL: Bool) throws(SNSError) {
        var start = 0
        while start < text.count {
            var end = start
            var equals: Int?
            while end < text.count, text[end] != UInt8(ascii: "&") {
                if equals == nil, text[end] == UInt8(ascii: "=") { equals = end }
                end += 1
            }
            if end > start {
                let name = UnsafeRawBufferPointer(rebasing: text[start..<(equals ?? end)])
                let value = UnsafeRawBufferPointer(rebasing: text[min((equals ?? end) + 1, end)..<end])
                try self.add(name, value, isURL: isURL)
            }
            start = end + 1
        }
    }

    private mutating func add(
        _ name: UnsafeRawBufferPointer,
        _ value: UnsafeRawBufferPointer,
        isURL: Bool
    ) throws(SNSError) {
        guard name.count <= Self.nameLimit else {
            throw .malformedQuery("A parameter's name is longer than \(Self.nameLimit) bytes.")
        }
        guard let name = FormText.decode(name), !name.isEmpty, !name.isBeyondXML else {
            throw .malformedQuery("A parameter's name does not decode to UTF-8 text.")
        }
        if isURL, name.utf8.count > 6, name.prefix(6).lowercased() == "x-amz-" { return }
        guard let value = FormText.decode(value) else {
            throw .malformedQuery("The value of the parameter \(name) does not decode to UTF-8 text.")
        }
        guard self.pairs.count < Self.countLimit else {
            throw .malformedQuery("The request has more than \(Self.countLimit) parameters.")
        }
        self.pairs.append(Pair(name: Substring(name), value: value))
    }

    /// No name twice, and none deeper than the limit.
    private func checkNames() throws(SNSError) {
        for pair in self.pairs {
            var depth = 1
            for byte in pair.name.utf8 where byte == UInt8(ascii: ".") { depth += 1 }
            guard depth <= Self.depthLimit else {
                throw .malformedInput("The parameter \(pair.name) is nested too deep.")
            }
        }
        var twice: Substring?
        if self.pairs.count <= 12 {
            for (index, pair) in self.pairs.enumerated() {
                for other in self.pairs[..<index] where other.name == pair.name { twice = pair.name }
            }
        } else {
            var seen = Set<Substring>(minimumCapacity: self.pairs.count)
            for pair in self.pairs where !seen.insert(pair.name).inserted { twice = pair.name }
        }
        if let twice { throw .malformedQuery("The request has the parameter \(twice) more than once.") }
    }
}
