extension EnvelopeReader {
    mutating func readVersion(_ value: JSONValue) {
        guard value.kind == .number else {
            return self.refuse(.wrongKind(.version, wants: "the number 1", has: value.kind))
        }
        guard self.scanner.integer(value.range) != 1, self.unsupportedVersion == nil else { return }
        self.unsupportedVersion = Refusal(
            .unsupportedVersion,
            field: EnvelopeField.version.rawValue,
            "\"version\" is \(Quoted.text(self.scanner.bytes(value.range))); this fleet knows version 1 only."
        )
    }

    /// The bytes of a string, resolved if it was written with escapes; nil, and a fault, for any other kind.
    mutating func readText(_ value: JSONValue, _ field: EnvelopeField) -> Job.Text? {
        guard value.kind == .string else {
            self.refuse(.wrongKind(field, wants: "a string", has: value.kind))
            return nil
        }
        guard value.hasEscapes else { return Job.Text(slice: ByteSlice(value.content)) }
        let start = self.parts.resolved.count
        self.parts.resolved += self.scanner.unescaped(value.content)
        return Job.Text(slice: ByteSlice(start..<self.parts.resolved.count), isResolved: true)
    }

    func check(_ text: Job.Text, _ accepts: (UnsafeRawBufferPointer) -> Bool) -> Bool {
        guard text.isResolved else {
            return accepts(
                UnsafeRawBufferPointer(start: self.scanner.base + Int(text.slice.start), count: Int(text.slice.count))
            )
        }
        return self.parts.resolved.withUnsafeBytes {
            accepts(UnsafeRawBufferPointer(rebasing: $0[text.slice.range]))
        }
    }

    mutating func readApp(_ value: JSONValue) {
        guard let text = self.readText(value, .app) else { return }
        guard self.check(text, AppID.isValid) else {
            return self.refuse(
                .field(
                    .app,
                    "\"app\" must be 1 to 128 letters, digits, dots, dashes or underscores and start with a letter or "
                        + "digit; it is \(Quoted.text(self.scanner.bytes(value.content)))."
                )
            )
        }
        self.parts.app = text
    }

    mutating func readTopic(_ value: JSONValue) {
        guard let text = self.readText(value, .topic) else { return }
        guard self.check(text, Topic.isValid) else {
            return self.refuse(
                .field(
                    .topic,
                    "\"topic\" must be 1 to 255 letters, digits, dots, dashes or underscores; it is "
                        + "\(Quoted.text(self.scanner.bytes(value.content))). Leave it out to have it derived."
                )
            )
        }
        self.parts.topic = text
    }

    mutating func readCollapseID(_ value: JSONValue) {
        guard let text = self.readText(value, .collapseID) else { return }
        let count = Int(text.slice.count)
        guard Contract.collapseIDBytes.contains(count) else {
            return self.refuse(.field(.collapseID, "\"collapse_id\" must have 1 to 64 bytes; it has \(count)."))
        }
        guard self.check(text, { $0.allSatisfy { $0 > 0x20 && $0 < 0x7F } }) else {
            return self.refuse(
                .field(
                    .collapseID,
                    "\"collapse_id\" becomes a header: use visible ASCII only, no spaces and no control characters."
                )
            )
        }
        self.parts.collapse = text
    }

    mutating func readPushType(_ value: JSONValue) {
        guard let text = self.readText(value, .pushType) else { return }
        let found =
            text.isResolved
            ? PushType(rawValue: String(decoding: self.parts.resolved[text.slice.range], as: UTF8.self))
            : PushType(value.content, in: self.scanner)
        guard let found else {
            let written = self.scanner.bytes(value.content)
            let near = EditDistance.nearest(to: written, among: PushType.allCases.lazy.map(\.rawValue))
            let known = PushType.allCases.map(\.rawValue).joined(separator: ", ")
            return self.refuse(
                .field(
                    .pushType,
                    "\"push_type\" is \(Quoted.text(written)); "
                        + (near.map { "did you mean \"\($0)\"?" } ?? "it must be one of \(known).")
                )
            )
        }
        self.parts.pushType = found
    }

    mutating func readPriority(_ value: JSONValue) {
        guard value.kind == .number else {
            return self.refuse(.wrongKind(.priority, wants: "the number 1, 5 or 10", has: value.kind))
        }
        switch self.scanner.integer(value.range) {
        case 1: self.parts.priority = .powerFirst
        case 5: self.parts.priority = .considerate
        case 10: self.parts.priority = .immediate
        default:
            self.refuse(
                .field(
                    .priority,
                    "\"priority\" must be 1, 5 or 10; it is \(Quoted.text(self.scanner.bytes(value.range)))."
                )
            )
        }
    }

    mutating func readReceipt(_ value: JSONValue) {
        guard value.kind == .bool else {
            return self.refuse(.wrongKind(.receipt, wants: "true or false", has: value.kind))
        }
        self.parts.wantsReceipt = self.scanner.equals(value.range, "true")
    }

    mutating func readTime(_ value: JSONValue, _ field: EnvelopeField) -> UnixTime? {
        guard value.kind == .number else {
            self.refuse(.wrongKind(field, wants: "a number of Unix seconds", has: value.kind))
            return nil
        }
        let name = field.rawValue
        let written = self.scanner.bytes(value.range)
        guard let seconds = self.scanner.integer(value.range) else {
            self.refuse(
                .field(
                    field,
                    "\"\(name)\" must be whole Unix seconds written as plain digits; it is \(Quoted.text(written))."
                )
            )
            return nil
        }
        guard Contract.unixSeconds.contains(seconds) else {
            let hint =
                seconds > 100_000_000_000 && Contract.unixSeconds.contains(seconds / 1000)
                ? "that looks like milliseconds, divide by 1000" : "it must lie between 1970 and 2200"
            self.refuse(.field(field, "\"\(name)\" is \(seconds) Unix seconds; \(hint)."))
            return nil
        }
        return UnixTime(seconds: seconds)
    }
}
