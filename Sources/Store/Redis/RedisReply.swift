/// What Redis answers to one command (RESP2).
package enum RedisReply: Hashable, Sendable {
    /// A bulk or simple string; not necessarily UTF-8.
    case string([UInt8])
    case integer(Int64)
    case array([RedisReply])
    case null
    /// Only inside arrays: an error as the whole answer becomes ``RedisFailure/refused(_:)``.
    case error(RedisError)

    /// The number, also when Redis sent it as text (as all hash fields are).
    package var integer: Int64? {
        switch self {
        case .integer(let value): value
        case .string(let bytes): Int64(String(decoding: bytes, as: UTF8.self))
        case .array, .null, .error: nil
        }
    }

    /// The text of a string; invalid UTF-8 is repaired.
    package var text: String? {
        guard case .string(let bytes) = self else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    package var elements: [RedisReply]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    /// A flat list of names and values, as `HGETALL` answers in RESP2.
    package var pairs: [String: RedisReply]? {
        guard let elements = self.elements, elements.count.isMultiple(of: 2) else { return nil }
        var pairs: [String: RedisReply] = [:]
        pairs.reserveCapacity(elements.count / 2)
        for index in stride(from: 0, to: elements.count, by: 2) {
            guard let name = elements[index].text else { return nil }
            pairs[name] = elements[index + 1]
        }
        return pairs
    }
}

extension RedisReply {
    /// The same, of those whose values are numbers; empty when it is no such list.
    package var numbers: [String: Int64] {
        guard let elements = self.elements, elements.count.isMultiple(of: 2) else { return [:] }
        var numbers: [String: Int64] = [:]
        numbers.reserveCapacity(elements.count / 2)
        for index in stride(from: 0, to: elements.count, by: 2) {
            guard let name = elements[index].text, let number = elements[index + 1].integer else { continue }
            numbers[name] = number
        }
        return numbers
    }
}

/// An error reply: Redis understood the connection, and refused the command.
package struct RedisError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What operators and callers tell apart.
    package enum Kind: Sendable {
        /// The ACL user may not do this; the text names the command or key.
        case noPermission
        /// AUTH is missing, or user and password do not match.
        case notAuthenticated
        /// The server is a replica: a failover happened, or the address is wrong.
        case readOnly
        /// `maxmemory` is reached, and `noeviction` (rightly) refuses to write.
        case outOfMemory
        /// The server reads its data from disk after a start.
        case loading
        /// A script blocks the server.
        case busy
        /// The server refuses writes because it cannot save to disk, or its replicas are away.
        case notWritable
        /// A key of ours holds something else.
        case wrongType
        /// The script is not in the server's cache.
        case noScript
        /// Redis Cluster: the key lives elsewhere.
        case moved
        case other
    }

    /// The first word, such as `NOPERM`.
    package let code: String
    /// The whole line, with the code.
    package let text: String

    package init(text: String) {
        self.text = text
        self.code = String(text.prefix(while: { $0 != " " }))
    }

    package var kind: Kind {
        switch self.code {
        case "NOPERM": .noPermission
        case "NOAUTH", "WRONGPASS": .notAuthenticated
        case "READONLY": .readOnly
        case "OOM": .outOfMemory
        case "LOADING", "MASTERDOWN": .loading
        case "BUSY", "TRYAGAIN": .busy
        case "MISCONF", "NOREPLICAS": .notWritable
        case "WRONGTYPE": .wrongType
        case "NOSCRIPT": .noScript
        case "MOVED", "ASK", "CLUSTERDOWN", "CROSSSLOT": .moved
        // Inside a script: Redis 7.0 and 7.2. Which command it was they do not say.
        case "ERR" where self.text.hasPrefix("ERR The user executing the script can't"): .noPermission
        case "ERR" where self.text.contains("ACL failure in script"): .noPermission
        default: .other
        }
    }

    package var description: String { self.text }
}

/// Why a command has no answer.
package enum RedisFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// It was never sent: there is no connection, for this reason.
    case unavailable(String)
    /// It was sent and may have run: the connection ended or the time was up before an answer came.
    case unknown(String)
    /// Redis answered with an error; the command did not run, or a script stopped at its error.
    case refused(RedisError)

    /// Whether it may have changed something.
    package var mayHaveRun: Bool {
        guard case .unknown = self else { return false }
        return true
    }

    package var description: String {
        switch self {
        case .unavailable(let reason): "Redis is not available: \(reason)"
        case .unknown(let reason): "Redis did not answer: \(reason)"
        case .refused(let error): "Redis refused: \(error)"
        }
    }
}
