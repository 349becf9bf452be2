internal import Push

/// A fault rule's action as it is written in control requests and answers.
extension FaultRule.Action {
    private enum Kind: String, CaseIterable {
        case pass, answer, goaway, reset, drop, close, stall
        case blackHole = "black_hole"
        case ignorePings = "ignore_pings"
        case settings, refuse, silence, handshake
        case revokeKey = "revoke_key"
        case addBundleID = "add_bundle_id"
        case setEnvironment = "set_environment"
        case blockConnects = "block_connects"
    }

    init(json: ControlValue) throws(BadField) {
        var fields = try Fields(json, at: "action")
        guard let kind = try fields.choice("type", of: Kind.self) else {
            let kinds = Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw fields.error("type", "is required: one of \(kinds)")
        }
        self = try Self.make(kind, &fields)
        try fields.end()
    }

    private static func make(_ kind: Kind, _ fields: inout Fields) throws(BadField) -> Self {
        switch kind {
        case .pass: return .pass
        case .answer: return try self.answer(&fields)
        case .goaway:
            let goAway = try GoAwayOrder(&fields)
            return .goAway(
                code: goAway.code,
                debugData: goAway.debugData,
                lastStream: goAway.lastStream,
                form: try FaultRule.GoAwayForm(&fields)
            )
        case .reset:
            let code = try fields.errorCode("code") ?? 8
            return .reset(code: code, then: try fields.errorCode("then"))
        case .drop: return .drop
        case .close: return .close
        case .stall: return .stall
        case .blackHole: return .blackHole(reads: try fields.bool("reads") ?? true)
        case .ignorePings: return .ignorePings
        case .settings: return .settings(try FaultRule.SettingsForm(&fields))
        case .refuse: return .refuse
        case .silence: return .silence
        case .handshake:
            let certificate = try fields.string("certificate")
            let name = try fields.choice("alpn", of: FaultRule.HandshakeForm.ALPN.self)
            return .handshake(FaultRule.HandshakeForm(certificate: certificate, alpn: name ?? .h2))
        case .revokeKey: return .revokeKey(try fields.requiredString("key"))
        case .addBundleID: return .addBundleID(try fields.requiredString("bundle_id"))
        case .setEnvironment:
            guard let environment = try fields.choice("environment", of: APNsEnvironment.self) else {
                throw fields.error("environment", "is required: production or sandbox")
            }
            return .setEnvironment(environment)
        case .blockConnects:
            guard let length = try fields.duration("for_ms", from: 1) else {
                throw fields.error("for_ms", "is required: a whole number of milliseconds")
            }
            return .blockConnects(length)
        }
    }

    private static func answer(_ fields: inout Fields) throws(BadField) -> Self {
        guard let status = try fields.integer("status", in: 200...599) else {
            throw fields.error("status", "is required: a whole number from 200 to 599")
        }
        let reason = try fields.string("reason")
        let body = try fields.string("body")
        var form = FaultRule.AnswerForm()
        form.extent = try fields.choice("sends", of: FaultRule.AnswerForm.Extent.self) ?? .whole
        form.pause = try fields.duration("pause_ms") ?? .zero
        form.retryAfter = try fields.string("retry_after")
        if let text = form.retryAfter, !text.utf8.allSatisfy({ (0x20..<0x7f).contains($0) }) {
            throw fields.error("retry_after", "must be visible characters")
        }
        form.timestamp = try fields.integer("timestamp", in: 0...Int64(1) << 52)
        if form.timestamp != nil, reason == nil || body != nil {
            throw fields.error("timestamp", "goes with reason, and not beside body")
        }
        return .answer(status: Int(status), reason: reason, body: body, form: form)
    }

    var json: ControlValue {
        switch self {
        case .pass: return ["type": "pass"]
        case .answer(let status, let reason, let body, let form):
            var object: [String: ControlValue] = ["type": "answer", "status": .integer(Int64(status))]
            object["reason"] = reason.map { .string($0) }
            object["body"] = body.map { .string($0) }
            form.add(to: &object)
            return .object(object)
        case .goAway(let code, let debugData, let lastStream, let form):
            var object: [String: ControlValue] = [
                "type": "goaway", "code": .integer(Int64(code)), "debug_data": .string(debugData),
                "last_stream": lastStream.json,
            ]
            form.add(to: &object)
            return .object(object)
        case .reset(let code, let then):
            var object: [String: ControlValue] = ["type": "reset", "code": .integer(Int64(code))]
            object["then"] = then.map { .integer(Int64($0)) }
            return .object(object)
        case .drop: return ["type": "drop"]
        case .close: return ["type": "close"]
        case .stall: return ["type": "stall"]
        case .blackHole(let reads): return ["type": "black_hole", "reads": .bool(reads)]
        case .ignorePings: return ["type": "ignore_pings"]
        case .settings(let form): return form.json
        case .refuse: return ["type": "refuse"]
        case .silence: return ["type": "silence"]
        case .handshake(let form):
            var object: [String: ControlValue] = ["type": "handshake", "alpn": .string(form.alpn.rawValue)]
            object["certificate"] = form.certificate.map { .string($0) }
            return .object(object)
        case .revokeKey(let id): return ["type": "revoke_key", "key": .string(id)]
        case .addBundleID(let id): return ["type": "add_bundle_id", "bundle_id": .string(id)]
        case .setEnvironment(let environment):
            return ["type": "set_environment", "environment": .string(environment.rawValue)]
        case .blockConnects(let length):
            return ["type": "block_connects", "for_ms": .integer(length.milliseconds)]
        }
    }

    /// A field that goes with a connection only that is about to be made.
    var connectField: String? {
        switch self {
        case .goAway(_, _, _, let form): form.isBeforeSettings ? "before_settings" : nil
        case .settings(let form):
            if form.connectionWindow != nil {
                "connection_window"
            } else if form.updatesWindows != nil {
                "window_updates"
            } else {
                form.isSent ? nil : "sent"
            }
        default: nil
        }
    }
}

extension FaultRule.AnswerForm {
    fileprivate func add(to object: inout [String: ControlValue]) {
        if self.extent != .whole { object["sends"] = .string(self.extent.rawValue) }
        if self.pause > .zero { object["pause_ms"] = .integer(self.pause.milliseconds) }
        object["retry_after"] = self.retryAfter.map { .string($0) }
        object["timestamp"] = self.timestamp.map { .integer($0) }
    }
}

extension FaultRule.LastStream {
    fileprivate var json: ControlValue {
        switch self {
        case .current: "current"
        case .zero: "zero"
        case .stream(let number): .integer(Int64(number))
        }
    }
}

extension FaultRule.GoAwayForm {
    init(_ fields: inout Fields) throws(BadField) {
        self.init()
        self.then = try fields.choice("then", of: Ending.self) ?? .drain
        self.silence = try fields.duration("silence_ms") ?? self.silence
        self.warning = try fields.duration("warning_ms")
        self.isBeforeSettings = try fields.bool("before_settings") ?? false
    }

    fileprivate func add(to object: inout [String: ControlValue]) {
        if self.then != .drain { object["then"] = .string(self.then.rawValue) }
        if self.silence != Self().silence { object["silence_ms"] = .integer(self.silence.milliseconds) }
        object["warning_ms"] = self.warning.map { .integer($0.milliseconds) }
        if self.isBeforeSettings { object["before_settings"] = true }
    }
}

extension FaultRule.SettingsForm {
    fileprivate init(_ fields: inout Fields) throws(BadField) {
        self.init()
        self.streams = try fields.integer("streams", in: 0...100_000).map { UInt32($0) }
        self.window = try fields.integer("window", in: Self.windows).map { UInt32($0) }
        self.lasts = try fields.duration("for_ms", from: 1)
        self.connectionWindow = try fields.integer("connection_window", in: Self.windows).map { UInt32($0) }
        self.updatesWindows = try fields.bool("window_updates")
        self.isSent = try fields.bool("sent") ?? true
        if self.lasts != nil, self.streams == nil { throw fields.error("for_ms", "goes with streams") }
    }

    fileprivate var json: ControlValue {
        var object: [String: ControlValue] = ["type": "settings"]
        object["streams"] = self.streams.map { .integer(Int64($0)) }
        object["window"] = self.window.map { .integer(Int64($0)) }
        object["for_ms"] = self.lasts.map { .integer($0.milliseconds) }
        object["connection_window"] = self.connectionWindow.map { .integer(Int64($0)) }
        object["window_updates"] = self.updatesWindows.map { .bool($0) }
        if !self.isSent { object["sent"] = false }
        return .object(object)
    }

    /// RFC 9113 §6.9.1.
    private static let windows: ClosedRange<Int64> = 0...0x7fff_ffff
}
