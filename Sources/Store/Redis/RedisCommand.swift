/// One command in Redis' wire format (RESP2: an array of bulk strings), ready to be sent.
package struct RedisCommand: Hashable, Sendable {
    private var body: [UInt8] = []
    private var count = 0

    /// - Parameter name: the command, such as `HGETALL`.
    package init(_ name: StaticString) {
        self.body.reserveCapacity(128)
        name.withUTF8Buffer { self.append(UnsafeRawBufferPointer($0)) }
    }

    /// - Parameter arguments: added after the name, in order.
    package init(_ name: StaticString, _ arguments: String...) {
        self.init(name)
        for argument in arguments { self.add(argument) }
    }

    package mutating func add(_ argument: String) {
        var argument = argument
        argument.withUTF8 { self.append(UnsafeRawBufferPointer($0)) }
    }

    package mutating func add(_ argument: StaticString) {
        argument.withUTF8Buffer { self.append(UnsafeRawBufferPointer($0)) }
    }

    package mutating func add(_ argument: [UInt8]) {
        argument.withUnsafeBytes { self.append($0) }
    }

    package mutating func add(_ argument: UnsafeRawBufferPointer) { self.append(argument) }

    package mutating func add(_ argument: Int64) {
        self.appendLength(of: Self.digits(argument), marker: UInt8(ascii: "$"))
        self.appendDecimal(argument)
        self.appendLineEnd()
        self.count += 1
    }

    package mutating func add(_ argument: Int) {
        self.add(Int64(argument))
    }

    /// Appends the finished command to `buffer`.
    package func encode(into buffer: inout [UInt8]) {
        var head = RedisCommand()
        head.appendLength(of: self.count, marker: UInt8(ascii: "*"))
        buffer += head.body
        buffer += self.body
    }

    /// Arguments only, to be added to a command.
    init() {}

    /// Adds all of `arguments`' arguments, its name included if it has one.
    mutating func add(contentsOf arguments: RedisCommand) {
        self.body += arguments.body
        self.count += arguments.count
    }

    private mutating func append(_ argument: UnsafeRawBufferPointer) {
        self.appendLength(of: argument.count, marker: UInt8(ascii: "$"))
        self.body.append(contentsOf: argument)
        self.appendLineEnd()
        self.count += 1
    }

    private mutating func appendLength(of count: Int, marker: UInt8) {
        self.body.append(marker)
        self.appendDecimal(Int64(count))
        self.appendLineEnd()
    }

    private mutating func appendLineEnd() {
        self.body.append(0x0d)
        self.body.append(0x0a)
    }

    private mutating func appendDecimal(_ value: Int64) {
        if value < 0 { self.body.append(UInt8(ascii: "-")) }
        var rest = value.magnitude
        var unit: UInt64 = 1
        while rest / unit >= 10 { unit *= 10 }
        while unit > 0 {
            self.body.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest / unit))
            rest %= unit
            unit /= 10
        }
    }

    private static func digits(_ value: Int64) -> Int {
        var count = value < 0 ? 2 : 1
        var rest = value.magnitude
        while rest >= 10 {
            rest /= 10
            count += 1
        }
        return count
    }
}
