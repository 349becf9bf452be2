internal import Broker
internal import Foundation
internal import Push
internal import SNS

/// One record of delivery status. Source: Amazon SNS Developer Guide, "Amazon SNS application attributes for message
/// delivery status". Instead of a CloudWatch log it goes to an exchange, by the name of the app.
struct DeliveryStatus {
    private let report: TokenReport
    private let destination: EndpointARN
    private let time: UnixTime

    init(_ report: TokenReport, destination: EndpointARN, time: UnixTime) {
        self.report = report
        self.destination = destination
        self.time = time
    }

    var message: Broker.Message {
        Broker.Message(exchange: GatewayTopology.status, routingKey: self.report.app, body: self.body)
    }

    var body: [UInt8] {
        let isDelivered = self.report.outcome == "delivered"
        var delivery: [String: Any] = [
            "statusCode": isDelivered ? 200 : 400, "token": self.report.token, "attempts": self.report.attempts ?? 1,
            "destination": self.destination.description,
        ]
        if let latency = self.report.latency { delivery["dwellTimeMs"] = latency }
        if let id = self.report.apnsID { delivery["deliveryId"] = id }
        if let reason = self.report.apnsReason ?? self.report.reason { delivery["providerResponse"] = reason }
        let record: [String: Any] = [
            "status": isDelivered ? "SUCCESS" : "FAILURE",
            "notification": [
                "timestamp": ISOTime.text(self.time), "messageId": self.report.messageID ?? "",
            ],
            "delivery": delivery,
        ]
        let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? JSONSerialization.data(withJSONObject: record, options: options) else {
            preconditionFailure("text and numbers are always JSON")
        }
        return Array(data)
    }
}
