extension ReplyCursor {
    mutating func subscription() -> Subscription? {
        guard let topic = self.text(), let id = self.id(), let kind = self.text(), let one = self.text(),
            let other = self.bytes(), var attributes = self.list()
        else { return nil }
        let subscriber: Subscriber
        if kind == "a" {
            // The name of an application that was deleted is kept.
            guard let application = ApplicationName(key: one), let endpoint = ResourceID(bytes: other) else {
                return nil
            }
            subscriber = .endpoint(EndpointName(application: application, id: endpoint))
        } else {
            subscriber = .other(protocol: one, endpoint: String(decoding: other, as: UTF8.self))
        }
        let all = attributes.dictionary()
        return Subscription(
            name: SubscriptionName(topic: topic, id: id),
            subscriber: subscriber,
            attributes: all.filter { !$0.key.hasPrefix(".") },
            confirmation: Confirmation(all)
        )
    }

    /// Lists to the end.
    mutating func subscriptions() -> [Subscription]? {
        var all: [Subscription] = []
        while var item = self.list() {
            guard let subscription = item.subscription() else { return nil }
            all.append(subscription)
        }
        return all
    }

    /// After the word `page`.
    mutating func recipients() -> Recipients? {
        guard let next = self.bytes(), var numbered = self.list() else { return nil }
        var applications: [String: RecipientApplication] = [:]
        while var item = numbered.list() {
            guard let number = item.text(), let application = item.recipientApplication() else { return nil }
            applications[number] = application
        }
        guard var settings = self.list(), let version = settings.text(), let policy = settings.text(),
            let success = settings.text(), let failure = settings.text()
        else { return nil }
        var all = Recipients(recipients: [], next: ResourceID(bytes: next))
        all.topic.signatureVersion = version.isEmpty ? nil : version
        all.topic.deliveryPolicy = policy.isEmpty ? nil : policy
        all.topic.isLogged = !success.isEmpty || !failure.isEmpty
        while var item = self.list() {
            guard let recipient = item.recipient(applications) else { return nil }
            all.recipients.append(recipient)
        }
        return all
    }

    private mutating func recipientApplication() -> RecipientApplication? {
        guard let key = self.text(), let name = ApplicationName(key: key), let isEnabled = self.integer(),
            let fleetApp = self.text(), let isLogged = self.integer()
        else { return nil }
        return RecipientApplication(
            name: name,
            isEnabled: isEnabled == 1,
            fleetApp: fleetApp,
            isLogged: isLogged == 1
        )
    }

    private mutating func recipient(_ applications: [String: RecipientApplication]) -> Recipient? {
        guard let id = self.id(), let kind = self.text(), let policy = self.text(), let scope = self.text() else {
            return nil
        }
        let destination: Recipient.Destination
        var delivery: Recipient.Delivery?
        var isLogged = false
        if kind != "a" {
            guard let name = self.text(), let endpoint = self.text(), let raw = self.text(),
                let redrive = self.text(), let retry = self.text()
            else { return nil }
            destination = .other(protocol: name, endpoint: endpoint)
            delivery = Recipient.Delivery(
                isRaw: raw.lowercased() == "true",
                redrivePolicy: redrive.isEmpty ? nil : redrive,
                deliveryPolicy: retry.isEmpty ? nil : retry
            )
        } else if self.isAtEnd {
            destination = .dangling
        } else {
            guard let number = self.text(), let application = applications[number],
                let endpoint = self.endpoint(of: application.name)
            else { return nil }
            isLogged = application.isLogged
            destination = .endpoint(
                endpoint,
                isApplicationEnabled: application.isEnabled,
                fleetApp: application.fleetApp.isEmpty ? nil : application.fleetApp
            )
        }
        return Recipient(
            subscription: id,
            subscriber: destination,
            filterPolicy: policy.isEmpty ? nil : policy,
            filterPolicyScope: scope.isEmpty ? nil : scope,
            delivery: delivery,
            isLogged: isLogged
        )
    }
}

private struct RecipientApplication {
    let name: ApplicationName
    let isEnabled: Bool
    let fleetApp: String
    let isLogged: Bool
}
