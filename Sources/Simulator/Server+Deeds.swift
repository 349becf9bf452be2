internal import Push

/// Does to connections and streams what the push service has decided.
extension Server {
    /// Something to do for one request.
    struct Pending {
        let session: Session
        let stream: Int32
        let entry: UInt64
        let deed: Deed
    }

    /// Does what is to be done for a request, its time having come.
    func perform(_ pending: Pending) {
        let session = pending.session
        guard session.place != nil else { return }
        self.perform(pending.deed, pending)
        session.closeIfDone()
    }

    private func perform(_ deed: Deed, _ pending: Pending) {
        let session = pending.session
        let stream = pending.stream
        switch deed {
        case .answer(let answer): session.answer(stream, with: answer)
        case .formed(let answer, let form): session.answer(stream, with: answer, form: form)
        case .goAway(let farewell, let answer): self.goAway(farewell, answer: answer, pending)
        case .reset(let code, let then): session.reset(stream, code: code, then: then)
        case .drop: session.end(withReset: true, ending: "dropped by a rule")
        case .close: session.end(withReset: false, ending: "closed by a rule")
        case .stall: session.abandon(stream)
        case .blackHole(let reads):
            session.abandon(stream)
            session.fallSilent(reads: reads)
        case .also(let action, let rest):
            session.apply(action)
            self.perform(rest, pending)
        case .last(let rest, let ending):
            self.perform(rest, pending)
            switch ending {
            case .drop: session.endWhenSent(ending: "too many errors")
            case .goAway:
                let farewell = Farewell(code: 0, debugData: [], lastStream: .current)
                self.sayGoAway(session, farewell, lastStream: session.newestStream)
            }
        }
    }

    private func goAway(_ farewell: Farewell, answer: Answer?, _ pending: Pending) {
        let session = pending.session
        let isBeyond = farewell.lastStream.number(for: pending.stream) < pending.stream
        if answer == nil {
            if isBeyond { self.service.withdraw(pending.entry) }
            session.abandon(pending.stream)
        }
        if let answer, farewell.form.warning != nil { session.answer(pending.stream, with: answer) }
        self.sayGoAway(session, farewell, lastStream: farewell.lastStream.number(for: pending.stream))
        if let answer, farewell.form.warning == nil { session.answer(pending.stream, with: answer) }
    }

    /// Says GOAWAY, after a warning if there is to be one, and does what is to come after it.
    func sayGoAway(_ session: Session, _ farewell: Farewell, lastStream: Int32) {
        guard let warning = farewell.form.warning else { return self.end(session, farewell, lastStream: lastStream) }
        session.warn()
        self.after(warning) { [weak self, weak session] in
            guard let self, let session, session.place != nil else { return }
            // What came after the warning was welcome.
            let last = farewell.lastStream == .current ? session.newestStream : lastStream
            self.end(session, farewell, lastStream: last)
            session.closeIfDone()
        }
    }

    private func end(_ session: Session, _ farewell: Farewell, lastStream: Int32) {
        self.takeBack(session, after: lastStream)
        session.goAway(farewell, lastStream: lastStream)
    }

    /// What waits for its time beyond the last stream is taken back: its sender will take it elsewhere.
    private func takeBack(_ session: Session, after lastStream: Int32) {
        for case .deed(let pending) in self.queue.elements
        where pending.session === session && pending.stream > lastStream && pending.stream <= session.lastStream {
            self.service.withdraw(pending.entry)
            session.abandon(pending.stream)
            session.isOwed(-1)
        }
    }
}
