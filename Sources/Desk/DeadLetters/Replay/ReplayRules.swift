package import Push

/// Whether a worker would take a message now: what it checks before it asks Apple, checked before anything is published.
///
/// What only Apple or a credential can tell is not checked: such a message dies again, as a new letter.
package struct ReplayRules: Sendable {
    /// What matters of an app's settings.
    package struct App: Sendable {
        package let fit: PayloadFit
        package let lint: PayloadLint.Mode

        package init(fit: PayloadFit, lint: PayloadLint.Mode) {
            self.fit = fit
            self.lint = lint
        }
    }

    package let apps: [String: App]

    /// - Parameter apps: the fleet's apps by id.
    package init(apps: [String: App]) {
        self.apps = apps
    }

    /// The same with payloads checked for all apps.
    package var strict: ReplayRules {
        ReplayRules(apps: self.apps.mapValues { App(fit: $0.fit, lint: .strict) })
    }

    /// Why a worker would not take it; nil if it would.
    package func problem(routingKey: String, body: [UInt8], now: UnixTime) -> Refusal? {
        guard let address = DeadLetterAddress(routingKey) else {
            return Refusal(
                .unroutableLane,
                field: "routing key",
                "The routing key \(Quoted.text(routingKey.utf8)) is not <app>.now or <app>.bulk; edit the letter and name "
                    + "app and lane."
            )
        }
        guard let app = self.apps[address.app] else {
            return Refusal(
                .unknownApp,
                field: "app",
                "The fleet has no app \(Quoted.text(address.app.utf8)); add it to the configuration, or edit the letter."
            )
        }
        do throws(Refusal) {
            let job = try EnvelopeDecoder.decode(body: body, fit: app.fit)
            guard job.appName == address.app else {
                throw Refusal(
                    .appMismatch,
                    field: "app",
                    "The body's app is \(Quoted.text(job.appName.utf8)) and the routing key's "
                        + "\(Quoted.text(address.app.utf8)); edit the letter so that they are the same."
                )
            }
            if app.lint == .strict, let finding = PayloadLint.first(in: job, isBroadcast: job.isBroadcast) {
                throw Refusal(finding)
            }
            return self.lateness(of: job, now: now)
        } catch {
            return error
        }
    }

    package func problem(of letter: DeadLetter, now: UnixTime) -> Refusal? {
        self.problem(routingKey: letter.routingKey, body: letter.body, now: now)
    }

    /// A replay begins a new life: only what the body itself says can be too late or too early.
    private func lateness(of job: Job, now: UnixTime) -> Refusal? {
        let admission = Admission(ageLimit: .seconds(3600))
        switch admission.decide(job, published: now, now: now) {
        case .refuse(.expired):
            return Refusal(
                .expired,
                field: "expires_at",
                "\"expires_at\" has passed; edit the letter and give it a later time, or purge it."
            )
        case .refuse(let reason): return Refusal(reason, field: reason.field, reason.meaning)
        case .go, .wait: return nil
        }
    }
}
