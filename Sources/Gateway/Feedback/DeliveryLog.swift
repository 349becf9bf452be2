internal import Registry

/// Whose attributes want to know what becomes of pushes. Source: Amazon SNS Developer Guide, "Message delivery status".
struct DeliveryLog: Equatable, Sendable {
    private let logsSuccess: Bool
    private let logsFailure: Bool
    /// Per cent.
    private let rate: Int

    /// An application's, for all pushes to its endpoints.
    init(_ application: PlatformApplication) {
        self.init(application.attributes, prefix: "")
    }

    /// A topic's, for pushes to endpoints that are subscribed.
    init(_ topic: RegisteredTopic) {
        self.init(topic.attributes, prefix: "Application")
    }

    private init(_ attributes: [String: String], prefix: String) {
        func has(_ name: String) -> Bool { !(attributes[prefix + name] ?? "").isEmpty }
        self.logsSuccess = has("SuccessFeedbackRoleArn")
        self.logsFailure = has("FailureFeedbackRoleArn")
        self.rate = attributes[prefix + "SuccessFeedbackSampleRate"].flatMap { Int($0) } ?? 100
    }

    /// Whether there is anything to log at all.
    var isOn: Bool { self.logsSuccess || self.logsFailure }

    /// - Parameter chance: 0 to 99, for the sample of what went well.
    func wants(isSuccess: Bool, chance: Int) -> Bool {
        isSuccess ? self.logsSuccess && chance < self.rate : self.logsFailure
    }
}
