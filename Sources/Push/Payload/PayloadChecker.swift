/// One pass over a payload that collects findings.
struct PayloadChecker {
    private(set) var scanner: JSONScanner
    let type: PushType
    let isBroadcast: Bool
    private let limit: Int
    private let size: Int

    private(set) var findings: [PayloadLint.Finding] = []

    // What the rules between keys go by.
    var aps: PayloadKey.Found?
    /// Which of `PayloadKey.events` it is.
    var event: Int?

    /// - Parameter limit: findings beyond this many are not kept.
    init(_ payload: UnsafeRawBufferPointer, type: PushType, isBroadcast: Bool, limit: Int) {
        self.scanner = JSONScanner(payload)
        self.size = payload.count
        self.type = type
        self.isBroadcast = isBroadcast
        self.limit = limit
    }

    mutating func run() {
        let bytes = self.isBroadcast ? PushTypeRules.broadcastPayloadLimit : self.type.rules.payloadLimit
        if self.size > bytes {
            self.report(
                Place.payload,
                "The payload has \(self.size) bytes; the limit for \(self.isBroadcast ? "a broadcast" : self.type.rawValue)"
                    + " is \(bytes). Shorten the texts."
            )
        }
        do throws(JSONFault) {
            try self.scanner.start()
            guard self.isAt("{") else {
                let value = try self.scanner.value()
                try self.scanner.finish()
                return self.report(Place.payload, "The payload must be a JSON object; it is \(value.kind.phrase).")
            }
            try self.readPayload()
            try self.scanner.finish()
        } catch {
            self.report(Place.payload, "The payload is not valid JSON: \(error.phrase).")
        }
    }

    mutating func report(_ path: String, _ detail: String) {
        guard self.findings.count < self.limit else { return }
        self.findings.append(PayloadLint.Finding(path: path, detail: detail))
    }

    /// Paths of dictionaries, whole, so that a payload without a finding builds none.
    enum Place {
        static let payload = "payload"
        static let aps = "payload.aps"
        static let mdm = "payload.mdm"
        static let alert = "payload.aps.alert"
        static let sound = "payload.aps.sound"
        static let alertSound = "payload.aps.alert.sound"
        static let alertTitle = "payload.aps.alert.title"
        static let alertBody = "payload.aps.alert.body"
    }

    func isAt(_ character: Unicode.Scalar) -> Bool {
        self.scanner.position < self.scanner.count
            && self.scanner.byte(self.scanner.position) == UInt8(ascii: character)
    }

    // MARK: Dictionaries

    private mutating func readPayload() throws(JSONFault) {
        let names = self.scanner.position
        var hasAps = false
        var hasMDM = false
        try self.scanner.openObject()
        var isFirst = true
        while let name = try self.scanner.nextKey(first: isFirst) {
            isFirst = false
            if self.scanner.isName(name, "aps") {
                if hasAps { self.report(Place.aps, "\"aps\" stands in the payload more than once; keep one.") }
                hasAps = true
                try self.readAps()
            } else if self.type == .mdm, self.scanner.isName(name, "mdm") {
                hasMDM = true
                let value = try self.scanner.value()
                if value.kind != .string { self.reportKind(Place.mdm, "mdm", wants: "a string", has: value.kind) }
            } else {
                _ = try self.scanner.value()
            }
        }
        if self.type == .mdm, !hasMDM {
            self.report(Place.mdm, "\"mdm\" is missing; an mdm push carries the device's PushMagic there.")
        }
        if !hasAps, self.type.rules.aps == .required { try self.reportMissingAps(names) }
        if hasAps { self.checkKeys() }
    }

    private mutating func readAps() throws(JSONFault) {
        if self.type.rules.aps == .absent {
            self.report(Place.aps, "\"aps\" has no place in an mdm push; the payload is {\"mdm\": \"<PushMagic>\"}.")
            _ = try self.scanner.value()
            return
        }
        guard self.isAt("{") else {
            let value = try self.scanner.value()
            return self.reportKind(Place.aps, "aps", wants: "an object", has: value.kind)
        }
        self.aps = try self.readObject(.aps, Place.aps)
    }

    /// Walks the dictionary at the cursor and checks each value; tells which of its keys are there.
    mutating func readObject(_ table: PayloadKey.Table, _ place: String) throws(JSONFault) -> PayloadKey.Found {
        var found = PayloadKey.Found()
        try self.scanner.openObject()
        var isFirst = true
        while let name = try self.scanner.nextKey(first: isFirst) {
            isFirst = false
            guard let key = table.key(name, in: self.scanner) else {
                self.reportUnknown(name, table, place)
                _ = try self.scanner.value()
                continue
            }
            if !found.insert(key) {
                self.report("\(place).\(key.text)", "\"\(key.text)\" stands there more than once; keep one.")
            }
            if let owner = key.strangerPhrase(to: self.type) {
                self.report(
                    "\(place).\(key.text)",
                    "\"\(key.text)\" is for push_type \(owner); correct push_type or leave the key out."
                )
            }
            try self.readValue(key, place)
        }
        return found
    }

    // MARK: Values

    private mutating func readValue(_ key: PayloadKey, _ place: String) throws(JSONFault) {
        switch key.rule {
        case .alert where self.isAt("{"):
            let table: PayloadKey.Table = self.type == .liveactivity ? .activityAlert : .alert
            self.checkLocalization(try self.readObject(table, Place.alert), Place.alert)
        case .sound where self.isAt("{"):
            _ = try self.readObject(.sound, place == Place.aps ? Place.sound : Place.alertSound)
        case .localizable where self.isAt("{") && self.type == .liveactivity:
            let place = key == .title ? Place.alertTitle : Place.alertBody
            self.checkLocalization(try self.readObject(.text, place), place)
        case .strings where self.isAt("["):
            try self.readStrings(key, place)
        default:
            let value = try self.scanner.value()
            guard let wanted = self.problem(value, key.rule) else {
                if key == .event { self.event = self.index(of: value, in: PayloadKey.events) }
                return
            }
            self.reportKind("\(place).\(key.text)", key.text, wants: wanted, value)
        }
    }

    private mutating func readStrings(_ key: PayloadKey, _ place: String) throws(JSONFault) {
        try self.scanner.openArray()
        var number = 0
        while try self.scanner.nextElement(first: number == 0) {
            number += 1
            let value = try self.scanner.value()
            guard value.kind != .string else { continue }
            self.report(
                "\(place).\(key.text)",
                "\"\(key.text)\" must be an array of strings; entry \(number) is \(value.kind.phrase)."
            )
        }
    }
}
