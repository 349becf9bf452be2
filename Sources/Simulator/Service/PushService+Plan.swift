internal import Push

/// What is done about a request.
extension PushService {
    struct Plan {
        var deed: Deed
        var status: UInt16
        var reason: String?
    }

    func plan(
        for request: PushRequest,
        id: MessageID,
        stream: Int32,
        finding: RequestCheck.Finding?,
        fault: FaultRules.Fault?
    ) -> Plan {
        let isOwnID = request.messageID.value != nil
        var answer = Answer(status: 200, id: id, isOwnID: isOwnID, uniqueID: nil, body: [])
        answer.isBroadcast = request.isBroadcast
        if self.check.providerTokens.settings.environment == .sandbox {
            answer.uniqueID = MessageID(high: Digest.mix(id.high), low: Digest.mix(id.low))
        }
        var reason: String?
        if let verdict = finding?.verdict, let refusal = verdict.reason {
            answer.status = verdict.status
            answer.body = Self.body(refusal.rawValue, timestamp: verdict.timestamp)
            reason = refusal.rawValue
        }
        switch fault?.action {
        case nil, .pass?, .revokeKey?, .addBundleID?, .setEnvironment?, .blockConnects?:
            return Plan(deed: .answer(answer), status: answer.status, reason: reason)
        case .refuse?, .silence?, .handshake?:
            // Never asked about requests.
            return Plan(deed: .answer(answer), status: answer.status, reason: reason)
        case .some(.ignorePings), .some(.settings):
            let deed = fault.map { Deed.also($0.action, .answer(answer)) } ?? .answer(answer)
            return Plan(deed: deed, status: answer.status, reason: reason)
        case .answer(let status, let reason, let body, let form)?:
            answer.status = UInt16(clamping: status)
            let timestamp = form.timestamp.map { UnixTime(milliseconds: $0) }
            answer.body = body.map { Array($0.utf8) } ?? reason.map { Self.body($0, timestamp: timestamp) } ?? []
            let deed = form == FaultRule.AnswerForm() ? Deed.answer(answer) : .formed(answer, form)
            return Plan(deed: deed, status: answer.status, reason: reason)
        case .goAway(let code, let debugData, let lastStream, let form)?:
            let isAnswered = finding != nil && lastStream.covers(stream) && form.isAnswered
            let farewell = Farewell(code: code, debugData: Array(debugData.utf8), lastStream: lastStream, form: form)
            let deed = Deed.goAway(farewell, answer: isAnswered ? answer : nil)
            return Plan(deed: deed, status: isAnswered ? answer.status : 0, reason: isAnswered ? reason : nil)
        case .reset(let code, let then)?: return Plan(deed: .reset(code: code, then: then), status: 0)
        case .drop?: return Plan(deed: .drop, status: 0)
        case .close?: return Plan(deed: .close, status: 0)
        case .stall?: return Plan(deed: .stall, status: 0)
        case .blackHole(let reads)?: return Plan(deed: .blackHole(reads: reads), status: 0)
        }
    }

    private static func body(_ reason: String, timestamp: UnixTime?) -> [UInt8] {
        guard let timestamp else { return Array("{\"reason\":\"\(reason.jsonEscaped)\"}".utf8) }
        return Array("{\"reason\":\"\(reason.jsonEscaped)\",\"timestamp\":\(timestamp.milliseconds)}".utf8)
    }
}

extension FaultRules.Fault {
    /// Whether a request that meets the fault on `stream` is judged, and accepted if it is good.
    func isProcessed(_ stream: Int32) -> Bool {
        // A GOAWAY says itself what was processed: anything else would make the simulator a liar.
        if case .goAway(_, _, let lastStream, let form) = self.action {
            // What is then never answered may have been processed, or not.
            return lastStream.covers(stream) && (form.isAnswered || self.processes)
        }
        return self.processes
    }
}

extension FaultRule.GoAwayForm {
    /// Whether the request itself gets its answer, unless it lies beyond the last stream.
    fileprivate var isAnswered: Bool { self.then == .drain || self.then == .stay }
}

extension FaultRule.LastStream {
    fileprivate func covers(_ stream: Int32) -> Bool { stream <= self.number(for: stream) }

    /// - Parameter stream: the one of the request, or else the newest.
    func number(for stream: Int32) -> Int32 {
        switch self {
        case .current: stream
        case .zero: 0
        case .stream(let number): number
        }
    }
}
