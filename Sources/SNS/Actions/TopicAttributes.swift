/// Attributes of a topic.
package enum TopicAttributes {
    /// Those that can be set.
    package static let names: Set<String> = {
        var names: Set = [
            "DisplayName", "Policy", "DeliveryPolicy", "TracingConfig", "KmsMasterKeyId", "SignatureVersion",
        ]
        for transport in ["Application", "HTTP", "Lambda", "SQS", "Firehose"] {
            for suffix in ["SuccessFeedbackRoleArn", "FailureFeedbackRoleArn", "SuccessFeedbackSampleRate"] {
                names.insert(transport + suffix)
            }
        }
        return names
    }()

    static func check(_ name: String, _ value: String) throws(SNSError) {
        switch name {
        case "DisplayName":
            guard value.unicodeScalars.count <= 100 else {
                throw .invalidParameter("DisplayName", reason: "must be at most 100 characters long")
            }
        case "Policy", "DeliveryPolicy":
            guard value.utf8.count <= 30 * 1024 else { throw .invalidParameter(name, reason: "Policy is too long") }
            if value.isEmpty { break }
            guard case .object? = try? JSONTree(parsing: value) else {
                throw .invalidParameter(name, reason: "failed to parse JSON.")
            }
            guard name == "DeliveryPolicy" else { break }
            do throws(DeliveryPolicyFault) {
                _ = try DeliveryPolicy(parsing: value)
            } catch {
                throw .invalidParameter("DeliveryPolicy: \(error.problem)")
            }
        case "SignatureVersion":
            guard ["1", "2"].contains(value) else { throw .invalidParameter("SignatureVersion") }
        case _ where name.hasSuffix("SampleRate"):
            guard let rate = Int(value), (0...100).contains(rate) else { throw .invalidParameter(name) }
        default: break
        }
    }

    /// What GetTopicAttributes answers for a topic whose attributes were never set; the counts are for the caller to change.
    package static func fresh(_ topic: TopicARN) -> [String: String] {
        [
            "TopicArn": "\(topic)",
            "Owner": topic.account,
            "DisplayName": "",
            "Policy": Self.policy(topic),
            "EffectiveDeliveryPolicy": Self.deliveryPolicy,
            "SubscriptionsConfirmed": "0",
            "SubscriptionsDeleted": "0",
            "SubscriptionsPending": "0",
        ]
    }

    private static func policy(_ topic: TopicARN) -> String {
        let actions = [
            "GetTopicAttributes", "SetTopicAttributes", "AddPermission", "RemovePermission", "DeleteTopic", "Subscribe",
            "ListSubscriptionsByTopic", "Publish",
        ]
        return "{\"Version\":\"2008-10-17\",\"Id\":\"__default_policy_ID\",\"Statement\":[{\"Sid\":"
            + "\"__default_statement_ID\",\"Effect\":\"Allow\",\"Principal\":{\"AWS\":\"*\"},\"Action\":["
            + actions.map { "\"SNS:\($0)\"" }.joined(separator: ",")
            + "],\"Resource\":\"\(topic)\",\"Condition\":{\"StringEquals\":{\"AWS:SourceOwner\":\"\(topic.account)\"}}}]}"
    }

    private static let deliveryPolicy =
        "{\"http\":{\"defaultHealthyRetryPolicy\":{\"minDelayTarget\":20,\"maxDelayTarget\":20,\"numRetries\":3,"
        + "\"numMaxDelayRetries\":0,\"numNoDelayRetries\":0,\"numMinDelayRetries\":0,\"backoffFunction\":\"linear\"},"
        + "\"disableSubscriptionOverrides\":false,\"defaultRequestPolicy\":{\"headerContentType\":"
        + "\"text/plain; charset=UTF-8\"}}}"
}
