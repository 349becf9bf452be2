// What the consumer and the publisher share: a connection to a broker on this machine.
#pragma once

#include "floor.h"
#include <amqp.h>
#include <amqp_tcp_socket.h>

static inline void check_reply(amqp_rpc_reply_t reply, const char *what) {
    if (reply.reply_type == AMQP_RESPONSE_NORMAL) return;
    if (reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION)
        die("%s: %s", what, amqp_error_string2(reply.library_error));
    if (reply.reply.id == AMQP_CHANNEL_CLOSE_METHOD) {
        amqp_channel_close_t *close = reply.reply.decoded;
        die("%s: %.*s", what, (int)close->reply_text.len, (char *)close->reply_text.bytes);
    }
    die("%s: the broker closed the connection", what);
}

static inline void check_status(int status, const char *what) {
    if (status < 0) die("%s: %s", what, amqp_error_string2(status));
}

static inline amqp_connection_state_t connect_to_broker(long port) {
    amqp_connection_state_t connection = amqp_new_connection();
    amqp_socket_t *socket = amqp_tcp_socket_new(connection);
    check_status(amqp_socket_open(socket, "127.0.0.1", port), "connecting");
    check_reply(amqp_login(connection, "/", 1, 131072, 0, AMQP_SASL_METHOD_PLAIN, "guest", "guest"), "login");
    amqp_channel_open(connection, 1);
    check_reply(amqp_get_rpc_reply(connection), "opening a channel");
    return connection;
}

static inline void end_connection(amqp_connection_state_t connection) {
    check_reply(amqp_connection_close(connection, AMQP_REPLY_SUCCESS), "closing");
    amqp_destroy_connection(connection);
}
