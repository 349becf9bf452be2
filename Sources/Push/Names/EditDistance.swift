/// How many letters apart two words are, for "did you mean".
package enum EditDistance {
    /// Insertions, deletions and substitutions that turn one word into the other (Levenshtein), in bytes.
    package static func between(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var row = Array(0...right.count)
        for (index, letter) in left.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in right.indices {
                let substitution = diagonal + (right[column] == letter ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(substitution, min(diagonal, row[column]) + 1)
            }
        }
        return row[right.count]
    }

    /// The candidate nearest to `word` if at most `limit` letters away, ignoring case; nil if there is none.
    ///
    /// A candidate must keep at least one letter of the word, so that "x" does not suggest a two-letter name.
    package static func nearest(
        to word: some Collection<UInt8>,
        among candidates: some Sequence<String>,
        within limit: Int = 2
    ) -> String? {
        guard word.count <= 64 else { return nil }
        let word = word.map(Self.lowercased)
        var best: (name: String, distance: Int)?
        for candidate in candidates {
            let letters = candidate.utf8.map(Self.lowercased)
            let distance = Self.between(word, letters)
            guard distance <= limit, distance < max(word.count, letters.count) else { continue }
            if best.map({ distance < $0.distance }) ?? true { best = (candidate, distance) }
        }
        return best?.name
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte + 0x20 : byte
    }
}
