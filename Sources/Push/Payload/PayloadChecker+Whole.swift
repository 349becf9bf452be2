/// Rules between keys, and keys that must be there.
extension PayloadChecker {
    mutating func checkKeys() {
        guard let aps = self.aps else { return }
        if aps.contains(.mutableContent), !aps.contains(.alert) {
            self.report(
                "payload.aps.mutable-content",
                "\"mutable-content\" needs an \"alert\": without one the service extension does not run."
            )
        }
        switch self.type {
        case .alert: self.checkAlert(aps)
        case .background: self.checkBackground(aps)
        case .liveactivity: self.checkActivity(aps)
        case .widgets, .controls:
            self.require(aps, .contentChanged, "an update of \(self.type.rawValue) is \"content-changed\": true")
        case .location, .voip, .complication, .fileprovider, .mdm, .pushtotalk: break
        }
    }

    private mutating func checkAlert(_ aps: PayloadKey.Found) {
        guard aps.contains(.contentAvailable), !aps.contains(.alert), !aps.contains(.badge), !aps.contains(.sound)
        else { return }
        self.report(
            "payload.aps.content-available",
            "Nothing is shown: with \"content-available\" alone, push_type must be background, or Apple drops the push."
        )
    }

    private mutating func checkBackground(_ aps: PayloadKey.Found) {
        self.require(aps, .contentAvailable, "a background push is \"content-available\": 1")
        for key in PayloadKey.Table.aps.keys where key != .contentAvailable && aps.contains(key) {
            // What belongs to another type is said already.
            guard key.strangerPhrase(to: .background) == nil else { continue }
            self.report(
                "payload.aps.\(key.text)",
                "A background push has only \"content-available\" in \"aps\"; leave \"\(key.text)\" out, or use push_type "
                    + "alert."
            )
        }
    }

    private mutating func checkActivity(_ aps: PayloadKey.Found) {
        self.require(aps, .timestamp, "a Live Activity drops what is older than the last one it got")
        self.require(aps, .event, "it is \"start\", \"update\" or \"end\"")
        switch self.event {
        case 0:
            if self.isBroadcast {
                self.report("payload.aps.event", "A broadcast cannot start a Live Activity; send to device tokens.")
            }
            for key in [PayloadKey.alert, .attributesType, .attributes, .contentState] {
                self.require(aps, key, "a Live Activity does not start without it")
            }
        case 1, 2:
            for key in [PayloadKey.attributesType, .attributes, .inputPushToken, .inputPushChannel]
            where aps.contains(key) {
                self.report(
                    "payload.aps.\(key.text)",
                    "\"\(key.text)\" goes with \"event\": \"start\" only; leave it out."
                )
            }
        default: break
        }
        if aps.contains(.dismissalDate), let event = self.event, event != 2 {
            self.report(
                "payload.aps.dismissal-date",
                "\"dismissal-date\" goes with \"event\": \"end\" only; leave it out."
            )
        }
    }

    /// Arguments of a text need the text they are for.
    mutating func checkLocalization(_ found: PayloadKey.Found, _ place: String) {
        for (arguments, key) in Self.localizations where found.contains(arguments) && !found.contains(key) {
            self.report(
                "\(place).\(arguments.text)",
                "\"\(arguments.text)\" needs \"\(key.text)\", the string that the arguments go into."
            )
        }
    }

    private static let localizations: [(PayloadKey, PayloadKey)] = [
        (.titleLocArgs, .titleLocKey), (.subtitleLocArgs, .subtitleLocKey), (.locArgs, .locKey),
    ]

    private mutating func require(_ aps: PayloadKey.Found, _ key: PayloadKey, _ reason: String) {
        guard !aps.contains(key) else { return }
        self.report("payload.aps.\(key.text)", "\"\(key.text)\" is missing; \(reason).")
    }

    /// - Parameter start: where the payload's object begins.
    mutating func reportMissingAps(_ start: Int) throws(JSONFault) {
        var advice = "Apple's keys go inside it."
        var scanner = self.scanner
        scanner.position = start
        try scanner.openObject()
        var isFirst = true
        while let name = try scanner.nextKey(first: isFirst) {
            isFirst = false
            _ = try scanner.value()
            let bytes = scanner.bytes(name.content)
            guard EditDistance.nearest(to: bytes, among: CollectionOfOne("aps")) != nil else { continue }
            advice = "is it what you call \(Quoted.text(bytes))?"
            break
        }
        self.report(Place.aps, "\"aps\" is missing; \(advice)")
    }
}
