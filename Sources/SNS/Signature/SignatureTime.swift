internal import Push

/// The time in a signature: `20260102T030405Z`.
struct SignatureTime: Equatable, Sendable {
    let text: String

    /// Seconds since 1970.
    let seconds: Int64

    /// Nil unless it is a second of the calendar, written in this form.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 16, bytes[8] == UInt8(ascii: "T"), bytes[15] == UInt8(ascii: "Z") else { return nil }
        func number(_ range: Range<Int>) -> Int64? {
            var value: Int64 = 0
            for byte in bytes[range] {
                guard (0x30...0x39).contains(byte) else { return nil }
                value = value * 10 + Int64(byte - 0x30)
            }
            return value
        }
        guard let year = number(0..<4), let month = number(4..<6), let day = number(6..<8), let hour = number(9..<11),
            let minute = number(11..<13), let second = number(13..<15), (1970...9999).contains(year),
            (1...12).contains(month), (1...Self.days(in: month, of: year)).contains(day), hour < 24, minute < 60,
            second < 60
        else { return nil }
        // Counted in years that begin in March.
        let shifted = month > 2 ? year : year - 1
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
        self.seconds = days * 86_400 + hour * 3600 + minute * 60 + second
        self.text = text
    }

    private static func days(in month: Int64, of year: Int64) -> Int64 {
        guard month == 2 else { return [4, 6, 9, 11].contains(month) ? 30 : 31 }
        let isLeap = year.isMultiple(of: 4) && !year.isMultiple(of: 100) || year.isMultiple(of: 400)
        return isLeap ? 29 : 28
    }

    init(seconds: Int64) {
        self.seconds = seconds
        let date = UnixTime(seconds: seconds).date.split(separator: "-").joined()
        let ofDay = ((seconds % 86_400) + 86_400) % 86_400
        func two(_ number: Int64) -> String { (number < 10 ? "0" : "") + String(number) }
        self.text = "\(date)T\(two(ofDay / 3600))\(two(ofDay / 60 % 60))\(two(ofDay % 60))Z"
    }

    /// `20260102`.
    var day: Substring { self.text.prefix(8) }
}
