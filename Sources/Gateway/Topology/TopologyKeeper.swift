internal import Broker
internal import Logging
internal import Push
internal import Synchronization

/// Declares what gateways need, when one starts, and an application's queues, when it is made.
final class TopologyKeeper: Sendable {
    private let broker: BrokerSettings
    private let logger: Logger
    private let known = Mutex<Set<AppID>>([])

    init(_ broker: BrokerSettings, logger: Logger) {
        self.broker = broker
        self.logger = logger
    }

    /// Declares the common part; tries again until it is there or the task is cancelled.
    func run() async {
        var delay = Duration.milliseconds(500)
        while !Task.isCancelled {
            do {
                let differences = try await self.declare(GatewayTopology.common)
                for difference in differences {
                    self.logger.error("RabbitMQ is not as it should be", metadata: ["difference": "\(difference)"])
                }
                return
            } catch {
                self.logger.warning("cannot declare yet", metadata: ["reason": "\(error)"])
            }
            try? await Task.sleep(for: delay)
            delay = min(delay * 2, .seconds(10))
        }
    }

    /// Declares an application's queues.
    /// - Returns: whether they are there.
    func declare(_ app: AppID) async -> Bool {
        guard !self.known.withLock({ $0.contains(app) }) else { return true }
        do {
            let differences = try await self.declare(GatewayTopology.application(app))
            guard differences.isEmpty else {
                self.logger.error(
                    "an application's queues cannot be declared",
                    metadata: ["app": "\(app)", "difference": "\(differences[0])"]
                )
                return false
            }
            self.known.withLock { _ = $0.insert(app) }
            return true
        } catch {
            self.logger.warning(
                "an application's queues cannot be declared",
                metadata: ["app": "\(app)", "reason": "\(error)"]
            )
            return false
        }
    }

    private func declare(_ topology: Topology) async throws -> [TopologyDifference] {
        let session = try await BrokerSession.connect(self.broker)
        do {
            let differences = try await session.declare(topology)
            await session.close()
            return differences
        } catch {
            await session.close()
            throw error
        }
    }
}
