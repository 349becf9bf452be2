internal import Broker
internal import Push
internal import Registry
internal import SNS

/// Part of a topic's subscribers, on its way to being messages.
struct FanOutChunk {
    /// One device.
    struct Device: Equatable {
        let application: ApplicationName
        let app: String
        let token: String
        let mayRepeat: Bool
        /// Whether its application wants to know what becomes of pushes.
        var isLogged = false

        /// Names it among all devices of an order.
        var key: String { "\(self.app) \(self.token)" }
    }

    private(set) var devices: [Device]
    /// Left out because their token comes before.
    private(set) var duplicates = 0
    /// Left out by a filter policy.
    let filtered: Int

    /// - Parameter devices: each token once for an app.
    init(devices: [Device]) {
        var seen = Set<String>()
        self.devices = devices.filter { seen.insert($0.key).inserted }
        self.duplicates = devices.count - self.devices.count
        self.filtered = 0
    }

    /// - Parameter isWanted: whether a recipient's filter policy lets the message through.
    init(_ recipients: [Recipient], where isWanted: (Recipient) -> Bool) {
        self.devices = []
        var seen = Set<String>()
        var filtered = 0
        for recipient in recipients {
            guard case .endpoint(let endpoint, true, let app?) = recipient.subscriber, endpoint.isEnabled else {
                continue
            }
            // One token that the fleet's contract has no room for would make a dead letter of all.
            guard Contract.tokenDigits.contains(endpoint.token.text.utf8.count) else { continue }
            guard isWanted(recipient) else {
                filtered += 1
                continue
            }
            let device = Device(
                application: endpoint.name.application,
                app: app,
                token: endpoint.token.text,
                mayRepeat: endpoint.mayShareToken,
                isLogged: recipient.isLogged
            )
            if seen.insert(device.key).inserted { self.devices.append(device) } else { self.duplicates += 1 }
        }
        self.filtered = filtered
    }

    /// Those that may be in another chunk as well.
    var doubtful: [String] { self.devices.filter(\.mayRepeat).map(\.key) }

    /// Leaves out what another chunk sends.
    /// - Parameter isMine: for each of `doubtful`.
    mutating func keep(_ isMine: [Bool]) {
        var answers = isMine.makeIterator()
        let before = self.devices.count
        self.devices.removeAll { $0.mayRepeat && !(answers.next() ?? true) }
        self.duplicates += before - self.devices.count
    }

    /// The messages, whose ids depend on nothing but the order, the chunk and the subscribers' applications.
    func messages(
        order id: String,
        chunk number: Int,
        publishedAt: UnixTime,
        lane: Lane,
        push: (Device) -> PlatformPush?,
        notBefore: UnixTime? = nil,
        wantsReceipt: (Device) -> Bool = { _ in false }
    ) -> [Broker.Message] {
        let headers = Schedule(notBefore, publishedAt: publishedAt)?.headers(id) ?? []
        var groups: [String: [Device]] = [:]
        for device in self.devices { groups[device.app, default: []].append(device) }
        return groups.sorted { $0.key < $1.key }.enumerated().flatMap { index, group -> [Broker.Message] in
            guard let push = push(group.value[0]), let app = AppID(group.key) else { return [] }
            return Self.slices(group.value).enumerated().map { part, devices in
                var properties = MessageProperties()
                properties.messageID = Array("\(id).\(number).\(index).\(part)".utf8)
                properties.timestamp = publishedAt
                properties.headers = headers
                return Broker.Message(
                    exchange: FleetTopology.exchange,
                    routingKey: "\(group.key).\(lane.rawValue)",
                    properties: properties,
                    body: push.envelope(
                        app: app,
                        tokens: devices.map(\.token),
                        now: publishedAt,
                        notBefore: notBefore,
                        wantsReceipt: wantsReceipt(group.value[0])
                    )
                )
            }
        }
    }

    /// As many tokens as a message may have and its body has room for.
    private static func slices(_ devices: [Device]) -> [ArraySlice<Device>] {
        var slices: [ArraySlice<Device>] = []
        var start = 0
        var size = 0
        for (index, device) in devices.enumerated() {
            let added = device.token.utf8.count + 3
            if index - start == Contract.tokenLimit || size + added > Self.tokenBytes {
                slices.append(devices[start..<index])
                (start, size) = (index, 0)
            }
            size += added
        }
        if start < devices.count { slices.append(devices[start...]) }
        return slices
    }

    /// What all tokens of a body may take, beside the largest payload and the other members.
    private static let tokenBytes = Contract.bodyLimit - 16 * 1024
}
