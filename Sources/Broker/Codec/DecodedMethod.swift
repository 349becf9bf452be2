internal import CRabbitMQ

extension amqp_method_t {
    /// The method's fields; `type` must be the one that belongs to its id.
    func `as`<Fields>(_ type: Fields.Type) -> Fields {
        guard let decoded = self.decoded else { preconditionFailure("a decoded method without fields") }
        return decoded.assumingMemoryBound(to: type).pointee
    }

    /// For messages about methods that have no place.
    var name: String {
        amqp_method_name(self.id).map { String(cString: $0) } ?? "\(self.id)"
    }

    /// Answers and announcements whose handling is not the connection's business.
    var channelMethod: ChannelMethod? {
        switch self.id {
        case AMQP_EXCHANGE_DECLARE_OK_METHOD: return .exchangeDeclareOK
        case AMQP_QUEUE_DECLARE_OK_METHOD:
            let fields = self.as(amqp_queue_declare_ok_t.self)
            return .queueDeclareOK(messages: fields.message_count, consumers: fields.consumer_count)
        case AMQP_QUEUE_BIND_OK_METHOD, AMQP_QUEUE_UNBIND_OK_METHOD: return .bindOK
        case AMQP_QUEUE_PURGE_OK_METHOD:
            return .purgeOK(messages: self.as(amqp_queue_purge_ok_t.self).message_count)
        case AMQP_QUEUE_DELETE_OK_METHOD: return .deleteOK
        case AMQP_BASIC_QOS_OK_METHOD: return .qosOK
        case AMQP_BASIC_CONSUME_OK_METHOD: return .consumeOK
        case AMQP_BASIC_CANCEL_OK_METHOD: return .cancelOK
        case AMQP_BASIC_CANCEL_METHOD: return .cancelledByBroker
        case AMQP_BASIC_GET_EMPTY_METHOD: return .getEmpty
        case AMQP_CONFIRM_SELECT_OK_METHOD: return .confirmSelectOK
        default: return nil
        }
    }
}
