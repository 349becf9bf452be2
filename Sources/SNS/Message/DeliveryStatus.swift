package import Push

/// One record of a delivery log: what became of a push at one device.
///
/// Amazon writes successes by a sample rate and every failure. Source: Amazon SNS Developer Guide, "Message delivery status".
package struct DeliveryStatus: Equatable, Sendable {
    package var isSuccess: Bool
    package var messageID: UUID
    package var topic: TopicARN?
    package var published: UnixTime
    package var statusCode: Int

    /// From the publishing to just before the hand-off.
    package var dwell: Duration

    /// As it may be shown; never the whole token unless the log is the owner's own.
    package var token: String
    package var attempts: Int
    package var providerResponse: String
    package var endpoint: EndpointARN

    package init(
        isSuccess: Bool,
        messageID: UUID,
        topic: TopicARN?,
        published: UnixTime,
        statusCode: Int,
        dwell: Duration,
        token: String,
        attempts: Int,
        providerResponse: String,
        endpoint: EndpointARN
    ) {
        self.isSuccess = isSuccess
        self.messageID = messageID
        self.topic = topic
        self.published = published
        self.statusCode = statusCode
        self.dwell = dwell
        self.token = token
        self.attempts = attempts
        self.providerResponse = providerResponse
        self.endpoint = endpoint
    }

    /// `sns/<region>/<account>/app/<platform>/<name>`, with `/Failure` for failures.
    package var group: String {
        let application = self.endpoint.application
        return
            "sns/\(application.region)/\(application.account)/app/\(application.platform.rawValue)/\(application.name)"
            + (self.isSuccess ? "" : "/Failure")
    }

    /// A JSON object in one line.
    package var record: String {
        var notification: [(name: String, value: JSONMember)] = [
            ("timestamp", .text(self.published.logged)), ("messageId", .text("\(self.messageID)")),
        ]
        if let topic { notification.append(("topicArn", .text("\(topic)"))) }
        let delivery: [(name: String, value: JSONMember)] = [
            ("statusCode", .number(self.statusCode)),
            ("dwellTimeMs", .number(Int(clamping: self.dwell.milliseconds))),
            ("token", .text(self.token)),
            ("attempts", .number(self.attempts)),
            ("providerResponse", .text(self.providerResponse)),
            ("destination", .text("\(self.endpoint)")),
        ]
        return JSONMember.object([
            ("status", .text(self.isSuccess ? "SUCCESS" : "FAILURE")),
            ("notification", .object(notification)),
            ("delivery", .object(delivery)),
        ]).text
    }
}
