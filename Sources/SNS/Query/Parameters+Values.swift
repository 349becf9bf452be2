extension Parameters {
    /// The value of a scalar; nil if it did not come.
    ///
    /// - Throws: `MalformedInput` if a list, map or structure has come in its place.
    package func text(_ name: String) throws(SNSError) -> String? {
        var found: String?
        for pair in self.pairs {
            guard let rest = pair.name.rest(after: name) else { continue }
            guard rest.isEmpty else {
                throw .malformedInput("Start of structure or map found where not expected.")
            }
            found = pair.value
        }
        return found
    }

    /// The elements of a list of scalars in the order of their indices; nil if it did not come.
    package func list(_ name: String) throws(SNSError) -> [String]? {
        guard let members = try self.members(name, "member") else { return nil }
        var list: [String] = []
        list.reserveCapacity(members.count)
        for member in members {
            guard let value = try member.whole() else {
                throw .malformedInput("Start of structure or map found where not expected.")
            }
            list.append(value)
        }
        return list
    }

    /// The elements of a list of structures in the order of their indices; nil if it did not come.
    package func structures(_ name: String) throws(SNSError) -> [Parameters]? {
        guard let members = try self.members(name, "member") else { return nil }
        for member in members { try member.refuseWhole() }
        return members
    }

    /// The entries of a map whose values are structures, in the order of their indices.
    package func entries(_ name: String) throws(SNSError) -> [Parameters]? {
        guard let entries = try self.members(name, "entry") else { return nil }
        for entry in entries { try entry.refuseWhole() }
        return entries
    }

    /// A map of text to text; nil if it did not come. Amazon's SDKs send nothing for an empty map.
    package func map(_ name: String) throws(SNSError) -> [String: String]? {
        guard let entries = try self.entries(name) else { return nil }
        var map: [String: String] = [:]
        map.reserveCapacity(entries.count)
        for entry in entries {
            try entry.allow(["key", "value"])
            guard let key = try entry.text("key"), let value = try entry.text("value") else {
                throw .malformedInput("A map's entry needs a key and a value.")
            }
            guard map.updateValue(value, forKey: key) == nil else {
                throw .malformedInput("A map has the same key more than once.")
            }
        }
        return map
    }

    /// The members of a structure within this one.
    package func structure(_ name: String) throws(SNSError) -> Parameters? {
        var found: [Pair] = []
        for pair in self.pairs {
            guard let rest = pair.name.rest(after: name) else { continue }
            guard !rest.isEmpty else { throw .malformedInput("Value found where not expected") }
            found.append(Pair(name: rest.dropFirst(), value: pair.value))
        }
        return found.isEmpty ? nil : Parameters(pairs: found)
    }

    /// Refuses members of other names: a misspelt one is an error and not ignored.
    func allow(_ names: [String]) throws(SNSError) {
        next: for pair in self.pairs {
            for name in names where pair.name.rest(after: name) != nil { continue next }
            throw SNSError("InvalidQueryParameter", "The parameter \(pair.name) is not recognized")
        }
    }

    // MARK: Lists and maps

    /// The value of a list's element that is no structure.
    private func whole() throws(SNSError) -> String? {
        self.pairs.count == 1 && self.pairs[0].name.isEmpty ? self.pairs[0].value : nil
    }

    private func refuseWhole() throws(SNSError) {
        for pair in self.pairs where pair.name.isEmpty { throw .malformedInput("Value found where not expected") }
    }

    /// Gathers what belongs to each index of `name.word.N`.
    private func members(_ name: String, _ word: String) throws(SNSError) -> [Parameters]? {
        var found: [(index: Int, pair: Pair)] = []
        var isThere = false
        for pair in self.pairs {
            guard let rest = pair.name.rest(after: name) else { continue }
            isThere = true
            guard !rest.isEmpty else {
                guard pair.value.isEmpty else { throw .malformedInput("Value found where not expected") }
                continue
            }
            guard let numbered = rest.dropFirst().rest(after: word)?.dropFirst(),
                let (index, rest) = Self.index(numbered)
            else { throw .malformedInput("Value found where not expected") }
            found.append((index, Pair(name: rest, value: pair.value)))
        }
        guard isThere else { return nil }
        found.sort { $0.index < $1.index }
        var members: [Parameters] = []
        var last = 0
        for (index, pair) in found {
            if index == last {
                members[members.count - 1].pairs.append(pair)
            } else {
                members.append(Parameters(pairs: [pair]))
                last = index
            }
        }
        return members
    }

    /// The index that a text begins with, and what follows its dot.
    private static func index(_ text: Substring) -> (Int, Substring)? {
        var index = 0
        var at = text.utf8.startIndex
        while at < text.utf8.endIndex, text.utf8[at] != UInt8(ascii: ".") {
            let digit = Int(text.utf8[at]) - 0x30
            guard (0..<10).contains(digit), index > 0 || digit > 0 else { return nil }
            index = index * 10 + digit
            guard index <= Self.indexLimit else { return nil }
            at = text.utf8.index(after: at)
        }
        guard index > 0 else { return nil }
        guard at < text.utf8.endIndex else { return (index, "") }
        let rest = text[text.utf8.index(after: at)...]
        return rest.isEmpty ? nil : (index, rest)
    }
}

extension Substring {
    /// What follows `first` in a dotted name: empty, or from the dot on. Nil if the name does not begin with it.
    func rest(after first: String) -> Substring? {
        let count = first.utf8.count
        guard self.utf8.count >= count, self.utf8.starts(with: first.utf8) else { return nil }
        let end = self.utf8.index(self.utf8.startIndex, offsetBy: count)
        guard end == self.utf8.endIndex || self.utf8[end] == UInt8(ascii: ".") else { return nil }
        return self[end...]
    }
}
