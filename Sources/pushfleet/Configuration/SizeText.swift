/// Sizes as the configuration writes them: a whole number and a unit, such as `256MB`. A kilobyte has 1,024 bytes, as in
/// Redis' own settings.
enum SizeText {
    private static let units = [("TB", 1 << 40), ("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)]

    static func parse(_ text: String) throws(ValueFault) -> Int {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let unit = text.dropFirst(digits.count).uppercased()
        let factor = unit.isEmpty && digits == "0" ? 1 : Self.units.first { $0.0 == unit }?.1
        guard !digits.isEmpty, let factor else {
            throw ValueFault(phrase: "is not a size; write a whole number and KB, MB, GB or TB, such as 256MB, or 0")
        }
        guard let number = Int(digits) else { throw ValueFault(phrase: "is too large") }
        let (size, overflow) = number.multipliedReportingOverflow(by: factor)
        guard !overflow else { throw ValueFault(phrase: "is too large") }
        return size
    }

    /// In the largest unit that it is a whole number of.
    static func format(_ size: Int) -> String {
        guard size > 0 else { return "0" }
        for (unit, factor) in Self.units where size % factor == 0 { return "\(size / factor)\(unit)" }
        return "\(size) bytes"
    }
}
