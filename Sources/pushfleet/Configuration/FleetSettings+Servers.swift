internal import Broker
internal import Push
internal import Store
internal import Wire
internal import Worker

extension FleetSettings {
    /// How verbs reach RabbitMQ.
    /// - Parameter name: shown by RabbitMQ's tools.
    func brokerSettings(name: String) throws(AMQPAddressError) -> BrokerSettings {
        var address = try AMQPAddress(parsing: self.amqp.url)
        address.heartbeat = self.amqpHeartbeat
        return BrokerSettings(address: address, connectionName: name, authorities: self.amqp.caFile)
    }

    /// Connects to RabbitMQ for one verb.
    func openBroker(for verb: String, timeout: Duration = .seconds(10)) async throws(VerbFailure) -> BrokerSession {
        var place = "RabbitMQ"
        do {
            var settings = try self.brokerSettings(name: "pushfleet \(verb)")
            settings.transport.connectTimeout = timeout
            place = "\(settings.address)"
            return try await BrokerSession.connect(settings, timeout: timeout)
        } catch {
            throw VerbFailure("cannot use \(place): \(error)")
        }
    }

    /// What RabbitMQ answers to `question` on a connection of its own; one that breaks ends the verb.
    func askBroker<Answer>(
        for verb: String,
        timeout: Duration = .seconds(10),
        _ question: (BrokerSession) async throws(BrokerError) -> Answer
    ) async throws(VerbFailure) -> Answer {
        let broker = try await self.openBroker(for: verb, timeout: timeout)
        do throws(BrokerError) {
            let answer = try await question(broker)
            await broker.close()
            return answer
        } catch {
            throw VerbFailure("the connection to RabbitMQ ended: \(error)")
        }
    }

    /// Connects to Redis for one verb.
    func openRedis(for verb: String, timeout: Duration = .seconds(10)) async throws(VerbFailure) -> RedisSession {
        var settings = RedisClient.Settings()
        settings.commandTimeout = timeout
        settings.transport.connectTimeout = timeout
        settings.clientName = "pushfleet-\(verb)"
        do {
            return try await RedisSession.open(
                RedisAddress(self.redis.url),
                trusting: self.redis.caFile,
                settings: settings
            )
        } catch {
            throw VerbFailure("\(error)")
        }
    }

    /// The names of the apps, as queues are named by them.
    var appIDs: [AppID] { self.apps.compactMap { AppID($0.id) } }

    /// Every delay queue that there shall be.
    var delays: [DelayLevel] { DelayLadder(schedules: self.apps.map(\.retry)).levels }

    /// Everything that there shall be in RabbitMQ.
    var topology: Topology { FleetTopology.make(apps: self.appIDs, delays: self.delays) }

    /// The connection budgets, one for each credential.
    var budgets: [Budget] {
        self.credentials.map { Budget(pool: $0.pool, connections: $0.maxConnections) }
    }
}
