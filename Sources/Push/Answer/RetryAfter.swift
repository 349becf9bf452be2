/// The `Retry-After` header, RFC 9110 §10.2.3: seconds, or a date.
package enum RetryAfter {
    /// What a server may ask for at most; more is taken as this.
    package static let cap: Duration = .seconds(3600)

    /// Nil for anything that is neither form. A date in the past gives zero.
    package static func parse(_ text: UnsafeRawBufferPointer, now: UnixTime) -> Duration? {
        guard !text.isEmpty, text.count <= 40 else { return nil }
        if let seconds = Self.number(text[...]) { return min(.seconds(seconds), Self.cap) }
        guard let date = Self.date(text) else { return nil }
        return max(.zero, min(date - now, Self.cap))
    }

    /// Plain digits, up to 18 of them.
    private static func number(_ digits: Slice<UnsafeRawBufferPointer>) -> Int64? {
        guard !digits.isEmpty, digits.count <= 18 else { return nil }
        var value: Int64 = 0
        for byte in digits {
            guard byte &- 0x30 < 10 else { return nil }
            value = value * 10 + Int64(byte - 0x30)
        }
        return value
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`, the one form that RFC 9110 §5.6.7 lets servers write.
    private static func date(_ text: UnsafeRawBufferPointer) -> UnixTime? {
        guard text.count == 29, text[3] == UInt8(ascii: ","), text[19] == UInt8(ascii: ":"),
            text[22] == UInt8(ascii: ":"), text[26...].elementsEqual("GMT".utf8),
            [4, 7, 11, 16, 25].allSatisfy({ text[$0] == 0x20 }),
            let day = Self.number(text[5..<7]), (1...31).contains(day),
            let month = Self.months.firstIndex(where: { text[8..<11].elementsEqual($0.utf8) }),
            let year = Self.number(text[12..<16]), (1970...2200).contains(year),
            let hour = Self.number(text[17..<19]), hour < 24,
            let minute = Self.number(text[20..<22]), minute < 60,
            let second = Self.number(text[23..<25]), second <= 60
        else { return nil }
        let days = Self.days(year: year, month: Int64(month) + 1, day: day)
        return UnixTime(seconds: days * 86_400 + hour * 3600 + minute * 60 + second)
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Days from 1970-01-01 to a date of the Gregorian calendar. Years are counted from March, so that the leap day
    /// comes last and the months before it follow one linear rule.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month > 2 ? year : year - 1
        let monthFromMarch = month > 2 ? month - 3 : month + 9
        let leaps = shifted / 4 - shifted / 100 + shifted / 400
        // 719,468 is the same count for 1970-01-01.
        return shifted * 365 + leaps + (monthFromMarch * 153 + 2) / 5 + day - 1 - 719_468
    }
}
