/// The texts that records name by numbers, and Redis knows once for each worker's session. Bounded: beyond, everything
/// is `other`.
package struct TrailNames: Sendable {
    static let maximum = 4000

    private var numbers: [String: UInt16] = [:]
    /// Number 0 means nothing.
    private(set) var texts: [String] = [""]

    init() {}

    /// The number of a text, the same each time.
    mutating func number(_ text: String) -> UInt16 {
        if let number = self.numbers[text] { return number }
        if self.texts.count > Self.maximum, text != Self.other { return self.number(Self.other) }
        let number = UInt16(self.texts.count)
        self.texts.append(text)
        self.numbers[text] = number
        return number
    }

    private static let other = "other"
}
