internal import Loop
internal import Wire

/// A port through which pushes come in.
struct Door {
    enum Kind {
        /// Apple's 443.
        case usual
        /// Apple's 2197, which is the same.
        case alternate
        /// Without TLS, which Apple has not.
        case cleartext
    }

    let kind: Kind
    /// 0: a free one.
    let port: UInt16

    /// - Throws: when the port cannot be had.
    func listen(
        on host: String,
        loop: EventLoop,
        accept: @escaping (Arrival, Kind) -> Void
    ) throws(ListenError) -> Listener {
        let kind = self.kind
        return try Listener(on: Endpoint(host: host, port: self.port), loop: loop) { accept($0, kind) }
    }
}

extension Server {
    var ports: Simulator.Ports {
        func port(_ kind: Door.Kind) -> UInt16? { self.doors.first { $0.kind == kind }?.port }
        return Simulator.Ports(
            pushes: port(.usual) ?? 0,
            alternate: port(.alternate),
            cleartext: port(.cleartext),
            channels: self.channelServer?.port
        )
    }
}

extension Simulator.Settings {
    var doors: [Door] {
        var doors = [Door(kind: .usual, port: self.port)]
        if let port = self.alternatePort { doors.append(Door(kind: .alternate, port: port)) }
        if let port = self.cleartextPort { doors.append(Door(kind: .cleartext, port: port)) }
        return doors
    }
}
