internal import Push
package import Wire

/// Where a broker is and who we are there: `amqp://user:password@host:5672/vhost?heartbeat=10`.
///
/// The form is RabbitMQ's URI specification (https://www.rabbitmq.com/uri-spec.html): parts are percent-encoded,
/// `amqps` means TLS, IPv6 addresses stand in brackets. Left out: user and password are `guest`, the port is 5672
/// (5671 with TLS), the virtual host is `/`, the heartbeat is 10 s. Printed without the password.
package struct AMQPAddress: Hashable, Sendable {
    package var endpoint: Endpoint
    /// `amqps`.
    package var usesTLS: Bool
    package var user: String
    package var password: String
    package var virtualHost: String
    /// A peer that is silent for twice this time is taken for dead; whole seconds, 1 to 600.
    package var heartbeat: Duration

    package init(
        endpoint: Endpoint,
        usesTLS: Bool = false,
        user: String = "guest",
        password: String = "guest",
        virtualHost: String = "/",
        heartbeat: Duration = .seconds(10)
    ) {
        self.endpoint = endpoint
        self.usesTLS = usesTLS
        self.user = user
        self.password = password
        self.virtualHost = virtualHost
        self.heartbeat = heartbeat
    }

    /// - Throws: an error that names the part which cannot be used, and never shows the password.
    package init(parsing text: String) throws(AMQPAddressError) {
        var rest = text[...]
        let usesTLS: Bool
        if rest.hasPrefix("amqp://") {
            usesTLS = false
        } else if rest.hasPrefix("amqps://") {
            usesTLS = true
        } else {
            throw AMQPAddressError(.scheme, "it must begin with amqp:// or amqps://")
        }
        rest = rest.dropFirst(usesTLS ? 8 : 7)
        self.init(endpoint: Endpoint(host: "", port: usesTLS ? 5671 : 5672), usesTLS: usesTLS)

        if let mark = rest.firstIndex(of: "?") {
            try self.takeQuery(rest[rest.index(after: mark)...])
            rest = rest[..<mark]
        }
        if let slash = rest.firstIndex(of: "/") {
            let name = try Self.decoded(rest[rest.index(after: slash)...], .virtualHost)
            if !name.isEmpty { self.virtualHost = name }
            guard name.utf8.count <= 255 else { throw AMQPAddressError(.virtualHost, "it is longer than 255 bytes") }
            rest = rest[..<slash]
        }
        // The last "@": one in a password should have been encoded, but its meaning is plain.
        if let at = rest.lastIndex(of: "@") {
            try self.takeUser(rest[..<at])
            rest = rest[rest.index(after: at)...]
        }
        try self.takeHost(rest)
    }

    private mutating func takeUser(_ text: Substring) throws(AMQPAddressError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        self.user = try Self.decoded(parts[0], .user)
        guard !self.user.isEmpty else { throw AMQPAddressError(.user, "it is empty") }
        self.password = parts.count == 2 ? try Self.decoded(parts[1], .password) : ""
    }

    private mutating func takeHost(_ text: Substring) throws(AMQPAddressError) {
        var host = text
        var port: Substring?
        if host.first == "[" {
            guard let end = host.firstIndex(of: "]") else { throw AMQPAddressError(.host, "\"]\" is missing") }
            let after = host[host.index(after: end)...]
            guard after.isEmpty || after.first == ":" else {
                throw AMQPAddressError(.host, "after \"]\" only a port may follow")
            }
            port = after.isEmpty ? nil : after.dropFirst()
            host = host[..<end].dropFirst()
        } else if let colon = host.lastIndex(of: ":") {
            port = host[host.index(after: colon)...]
            host = host[..<colon]
            guard !host.contains(":") else { throw AMQPAddressError(.host, "an IPv6 address stands in brackets") }
        }
        self.endpoint.host = try Self.decoded(host, .host)
        guard !self.endpoint.host.isEmpty else { throw AMQPAddressError(.host, "it is missing") }
        guard let port, !port.isEmpty else { return }
        guard let number = UInt16(port), number > 0 else {
            throw AMQPAddressError(.port, "\"\(port)\" is not a number from 1 to 65535")
        }
        self.endpoint.port = number
    }

    private mutating func takeQuery(_ text: Substring) throws(AMQPAddressError) {
        for item in text.split(separator: "&") {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts[0] == "heartbeat" else {
                throw AMQPAddressError(.query, "\"\(parts[0])\" is unknown; only heartbeat can be set")
            }
            guard parts.count == 2, let seconds = Int(parts[1]), (1...600).contains(seconds) else {
                throw AMQPAddressError(.heartbeat, "it must be a number of seconds from 1 to 600")
            }
            self.heartbeat = .seconds(seconds)
        }
    }

    private static func decoded(
        _ text: Substring,
        _ part: AMQPAddressError.Part
    ) throws(AMQPAddressError) -> String {
        var bytes: [UInt8] = []
        var iterator = text.utf8.makeIterator()
        while let byte = iterator.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = iterator.next().flatMap(Hex.value), let low = iterator.next().flatMap(Hex.value) else {
                throw AMQPAddressError(part, "after \"%\" two hexadecimal digits must follow")
            }
            bytes.append(high << 4 | low)
        }
        guard let string = String(validating: bytes, as: UTF8.self) else {
            throw AMQPAddressError(part, "it is not UTF-8")
        }
        return string
    }
}

extension AMQPAddress: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String {
        let host = self.virtualHost == "/" ? "" : "/\(self.virtualHost)"
        return "\(self.usesTLS ? "amqps" : "amqp")://\(self.user)@\(self.endpoint)\(host)"
    }

    package var debugDescription: String { self.description }

    /// `dump` and failed test expectations print mirrors.
    package var customMirror: Mirror { Mirror(self, children: ["address": self.description]) }
}

/// An AMQP address cannot be used.
package struct AMQPAddressError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Which part of it.
    package enum Part: String, Sendable {
        case scheme, user, password, host, port, heartbeat, query
        case virtualHost = "virtual host"
    }

    package let part: Part
    package let problem: String

    init(_ part: Part, _ problem: String) {
        self.part = part
        self.problem = problem
    }

    package var description: String { "AMQP address, \(self.part.rawValue): \(self.problem)" }
}
