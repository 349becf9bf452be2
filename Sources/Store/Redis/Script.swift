internal import Push

/// A Lua script that runs in Redis as one step.
///
/// It is called by its SHA-1 (EVALSHA). A server that does not know it, after a start or SCRIPT FLUSH, answers NOSCRIPT
/// and gets the source once (EVAL); callers never see that. Every script must be safe to run twice with the same
/// arguments: a call whose answer was lost may have run.
package struct Script: Sendable {
    package let source: String
    /// 40 hexadecimal digits.
    package let digest: String

    package init(_ source: String) {
        self.source = source
        self.digest = SHA1.hexadecimal(source.utf8)
    }
}

/// One call of a script: its keys, then its arguments.
package struct ScriptCall: Sendable {
    package let script: Script
    private var tail = RedisCommand()

    /// - Parameter keys: every key the script touches; all in one hash slot.
    package init(_ script: Script, keys: [String]) {
        self.script = script
        self.tail.add(keys.count)
        for key in keys { self.tail.add(key) }
    }

    package mutating func add(_ argument: String) { self.tail.add(argument) }
    package mutating func add(_ argument: StaticString) { self.tail.add(argument) }
    package mutating func add(_ argument: UnsafeRawBufferPointer) { self.tail.add(argument) }
    package mutating func add(_ argument: [UInt8]) { self.tail.add(argument) }
    package mutating func add(_ argument: Int64) { self.tail.add(argument) }
    package mutating func add(_ argument: Int) { self.tail.add(argument) }

    package mutating func add(milliseconds duration: Duration) { self.tail.add(duration.milliseconds) }

    /// What is sent first.
    var byDigest: RedisCommand {
        var command = RedisCommand("EVALSHA")
        command.add(self.script.digest)
        command.add(contentsOf: self.tail)
        return command
    }

    /// What is sent when the server does not know the script.
    var bySource: RedisCommand {
        var command = RedisCommand("EVAL")
        command.add(self.script.source)
        command.add(contentsOf: self.tail)
        return command
    }
}
