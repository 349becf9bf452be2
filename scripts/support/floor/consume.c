// A bare consumer: takes messages from a queue and acknowledges them in batches, and does nothing else.
//
// It reads frames instead of assembled messages, so that not even a body is copied: nothing that uses librabbitmq can
// be much cheaper.
#include "amqp.h"

static amqp_frame_t next_frame(amqp_connection_state_t connection) {
    amqp_frame_t frame;
    check_status(amqp_simple_wait_frame(connection, &frame), "waiting for a delivery");
    return frame;
}

int main(int count, char **arguments) {
    program = "consume";
    long port = number_option(count, arguments, "--port", -1);
    long messages = number_option(count, arguments, "--messages", -1);
    long prefetch = number_option(count, arguments, "--prefetch", 750);
    long batch = number_option(count, arguments, "--batch", 64);
    const char *queue = text_option(count, arguments, "--queue", NULL);

    amqp_connection_state_t connection = connect_to_broker(port);
    amqp_basic_qos(connection, 1, 0, prefetch, 0);
    check_reply(amqp_get_rpc_reply(connection), "setting the prefetch");
    struct span span = begin_span();
    amqp_basic_consume(connection, 1, amqp_cstring_bytes(queue), amqp_empty_bytes, 0, 0, 0, amqp_empty_table);
    check_reply(amqp_get_rpc_reply(connection), "consuming");

    uint64_t tag = 0;
    long received = 0, unacknowledged = 0;
    while (received < messages) {
        amqp_frame_t frame = next_frame(connection);
        if (frame.frame_type != AMQP_FRAME_METHOD || frame.payload.method.id != AMQP_BASIC_DELIVER_METHOD)
            die("something else came where a delivery was due");
        tag = ((amqp_basic_deliver_t *)frame.payload.method.decoded)->delivery_tag;
        frame = next_frame(connection);
        uint64_t rest = frame.payload.properties.body_size;
        while (rest > 0) rest -= next_frame(connection).payload.body_fragment.len;
        amqp_maybe_release_buffers_on_channel(connection, 1);
        received++;
        bool is_last = !amqp_data_in_buffer(connection) && !amqp_frames_enqueued(connection);
        if (++unacknowledged >= batch || is_last || received == messages) {
            check_status(amqp_basic_ack(connection, 1, tag, 1), "acknowledging");
            unacknowledged = 0;
        }
    }
    end_span(span, received);
    end_connection(connection);
}
