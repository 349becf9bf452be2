internal import Push

/// What `POST /clock` asks for.
enum ClockOrder: Equatable, Sendable {
    /// Moves it forward, the wall clock only if told so.
    case advance(Duration, wall: Bool = true)
    /// Sets the wall clock.
    case set(UnixTime)
    /// Moves the wall clock, forward or back.
    case skew(Duration)
    /// Seconds that pass in each second, on the wall clock only if told so.
    case scale(Double, wall: Bool = true)
    /// Back to the time as it is.
    case real

    init(json: ControlValue) throws(BadField) {
        var fields = try Fields(json)
        var orders: [ClockOrder] = []
        let wall = try fields.bool("wall")
        if let length = try fields.integer("advance_ms", in: 0...Self.longest) {
            orders.append(.advance(.milliseconds(length), wall: wall ?? true))
        }
        if let time = try fields.integer("set_ms", in: 0...Int64(1) << 52) {
            orders.append(.set(UnixTime(milliseconds: time)))
        }
        if let length = try fields.integer("skew_ms", in: -Self.longest...Self.longest) {
            orders.append(.skew(.milliseconds(length)))
        }
        if let scale = try fields.number("scale", in: 0...1_000_000) {
            orders.append(.scale(scale, wall: wall ?? true))
        }
        if let isReal = try fields.bool("real") {
            guard isReal else { throw fields.error("real", "can only be true") }
            orders.append(.real)
        }
        try fields.end()
        guard orders.count == 1 else {
            throw BadField(field: "body", problem: "must have one of advance_ms, set_ms, skew_ms, scale, real")
        }
        self = orders[0]
        switch self {
        case .advance, .scale: break
        case .set, .skew, .real:
            if wall != nil { throw BadField(field: "wall", problem: "goes with advance_ms and scale only") }
        }
    }

    func apply(to server: Server) {
        server.changeClock { clock, real in
            switch self {
            case .advance(let length, let wall): clock.advance(by: length, wall: wall, at: real)
            case .set(let time): clock.set(time, at: real)
            case .skew(let length): clock.set(clock.moment(at: real).wall + length, at: real)
            case .scale(let scale, let wall): clock.run(at: scale, wall: wall, from: real)
            case .real: clock.resume(at: real)
            }
        }
    }

    /// A year.
    private static let longest: Int64 = 366 * 86_400_000
}

/// What `GET /clock` answers.
struct ClockReport: Codable, Equatable, Sendable {
    /// Milliseconds since 1970, as the simulator has it, and as it is.
    var nowMs: Int64
    var realMs: Int64
    /// Seconds that pass in each second.
    var scale: Double
    var isReal: Bool

    init(_ server: Server) {
        self.nowMs = server.moment.wall.milliseconds
        self.realMs = server.realMoment.wall.milliseconds
        self.scale = server.clock.scale
        self.isReal = server.clock.isReal
    }
}
