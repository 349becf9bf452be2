internal import ArgumentParser
internal import Desk
internal import Loop
internal import Push

/// Which letters a verb acts on: those named, or those that fit the options, or all.
struct DeadSelection: ParsableArguments {
    @Argument(help: ArgumentHelp("Ids of letters, as the list shows them.", valueName: "id"))
    var ids: [DeadLetterID] = []
    @OptionGroup var options: DeadFilterOptions

    func validate() throws {
        if !self.ids.isEmpty, !self.options.isEmpty {
            throw ValidationError("give ids or options that choose letters, not both")
        }
    }

    var filter: DeadLetterFilter {
        get throws {
            var filter = try self.options.filter(now: WallClock.now())
            if !self.ids.isEmpty { filter.ids = Set(self.ids) }
            return filter
        }
    }

    /// - Throws: if a letter was named that is not there.
    func requireAll(_ found: Set<DeadLetterID>, _ look: DeadLetterLook) throws(VerbFailure) {
        let missing = self.ids.filter { !found.contains($0) }
        guard !missing.isEmpty else { return }
        let names = missing.prefix(5).map(\.description).joined(separator: ", ")
        let more = missing.count > 5 ? " and \(missing.count - 5) more" : ""
        throw VerbFailure(
            "no dead letter has the id \(names)\(more); nothing was done\(look.doubt.map { " (\($0))" } ?? "")"
        )
    }
}

extension DeadLetterLook {
    /// Why letters may be missing; nil if none is.
    var doubt: String? {
        if self.otherReaders > 0 { return "another reader may hold some letters; look again when it is done" }
        if self.seen < self.ready { return "\(self.ready - self.seen) letters were taken by somebody else meanwhile" }
        return nil
    }

    /// Tells the person at the terminal.
    func tellDoubt() {
        if let doubt { Terminal.say(doubt) }
    }
}
