// Publishes messages of the fleet's contract, persistent and with confirms: all at once, or so many in a second.
//
// A token holds, in hexadecimal digits: a prefix of 4, the microseconds since 1970 at which its message was published
// (16), the message's number (12) and its own place in it (8), and noughts. Whoever sees a token at the other end
// knows how long it took.
//
// Also the floor of publishing a retry: librabbitmq, mandatory, confirms awaited together.
#include "amqp.h"

static char *body;
static size_t body_size;
static size_t *token_places;
static long tokens;

static void make_body(const char *app, const char *payload) {
    FILE *file = open_memstream(&body, &body_size);
    token_places = calloc(tokens, sizeof *token_places);
    fprintf(file, "{\"app\":\"%s\",\"tokens\":[", app);
    for (long i = 0; i < tokens; i++) {
        fprintf(file, "%s\"", i == 0 ? "" : ",");
        token_places[i] = ftell(file);
        fprintf(file, "%064d\"", 0);
    }
    fprintf(file, "],\"payload\":%s}", payload);
    fclose(file);
}

static void stamp(const char *prefix, uint64_t number) {
    uint64_t now = nanoseconds(CLOCK_REALTIME) / 1000;
    for (long i = 0; i < tokens; i++) {
        char *token = body + token_places[i];
        memcpy(token, prefix, 4);
        write_hex(token + 4, now, 16);
        write_hex(token + 20, number, 12);
        write_hex(token + 32, i, 8);
    }
}

// By delivery tag, which counts from 1.
static bool *is_confirmed;

// Takes the confirms that are there, or waits until no more than `most` are missing.
static void take_confirms(amqp_connection_state_t connection, uint64_t published, uint64_t *confirmed, uint64_t most) {
    while (published - *confirmed > 0) {
        bool must_wait = published - *confirmed > most;
        struct timeval none = {0, 0};
        amqp_frame_t frame;
        int status = amqp_simple_wait_frame_noblock(connection, &frame, must_wait ? NULL : &none);
        if (status == AMQP_STATUS_TIMEOUT) return;
        check_status(status, "waiting for confirms");
        if (frame.frame_type != AMQP_FRAME_METHOD || frame.payload.method.id != AMQP_BASIC_ACK_METHOD)
            die("a message was returned or refused; does the queue of this app exist?");
        amqp_basic_ack_t *ack = frame.payload.method.decoded;
        // With many queues confirms overtake each other, and one for many may hold some that had one of their own.
        static uint64_t lowest = 1;
        uint64_t first = ack->multiple ? lowest : ack->delivery_tag;
        for (uint64_t tag = first; tag <= ack->delivery_tag; tag++) {
            if (!is_confirmed[tag]) is_confirmed[tag] = true, (*confirmed)++;
        }
        if (ack->multiple && ack->delivery_tag >= lowest) lowest = ack->delivery_tag + 1;
        amqp_maybe_release_buffers(connection);
    }
}

int main(int count, char **arguments) {
    program = "publish";
    long port = number_option(count, arguments, "--port", -1);
    long messages = number_option(count, arguments, "--messages", -1);
    const char *payload = read_file(text_option(count, arguments, "--payload", NULL));
    long rate = number_option(count, arguments, "--rate", 0);
    long apps = number_option(count, arguments, "--apps", 1);
    long retried = number_option(count, arguments, "--retried-percent", 0);
    long window = number_option(count, arguments, "--window", 2000);
    tokens = number_option(count, arguments, "--tokens", 1);
    const char *app = text_option(count, arguments, "--app", NULL);
    const char *prefix = text_option(count, arguments, "--prefix", "0000");
    const char *lane = text_option(count, arguments, "--lane", "now");
    const char *exchange = text_option(count, arguments, "--exchange", "pushfleet");

    amqp_connection_state_t connection = connect_to_broker(port);
    amqp_confirm_select(connection, 1);
    check_reply(amqp_get_rpc_reply(connection), "confirm.select");

    // Apps are named app, app1, app2 …: the body of each is made once.
    char **bodies = calloc(apps, sizeof *bodies), **keys = calloc(apps, sizeof *keys);
    size_t *sizes = calloc(apps, sizeof *sizes), **places = calloc(apps, sizeof *places);
    for (long i = 0; i < apps; i++) {
        char name[256];
        if (i == 0) snprintf(name, sizeof name, "%s", app);
        else snprintf(name, sizeof name, "%s%ld", app, i);
        make_body(name, payload);
        bodies[i] = body, sizes[i] = body_size, places[i] = token_places;
        if (asprintf(&keys[i], "%s.%s", name, lane) < 0) die("no memory");
    }

    is_confirmed = calloc(messages + 1, sizeof *is_confirmed);
    if (is_confirmed == NULL) die("no memory");
    struct span span = begin_span();
    uint64_t confirmed = 0;
    for (long i = 0; i < messages; i++) {
        if (rate > 0) {
            int64_t due = span.begin + i * 1000000000ll / rate, now = nanoseconds(CLOCK_MONOTONIC);
            // Naps of a millisecond at least: waking up for each message would take what it measures.
            if (due > now) {
                take_confirms(connection, i, &confirmed, window);
                struct timespec wake = {(due + 1000000) / 1000000000, (due + 1000000) % 1000000000};
                clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL);
            }
        }
        long index = i % apps;
        body = bodies[index], body_size = sizes[index], token_places = places[index];
        stamp((i * retried) / 100 != ((i + 1) * retried) / 100 ? "0503" : prefix, i);
        char id[32];
        int id_size = snprintf(id, sizeof id, "bench-%ld", i);
        amqp_basic_properties_t properties = {
            ._flags = AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_MESSAGE_ID_FLAG | AMQP_BASIC_TIMESTAMP_FLAG,
            .delivery_mode = 2,
            .message_id = {id_size, id},
            .timestamp = nanoseconds(CLOCK_REALTIME) / 1000000000,
        };
        amqp_bytes_t bytes = {body_size, body};
        check_status(
            amqp_basic_publish(
                connection, 1, amqp_cstring_bytes(exchange), amqp_cstring_bytes(keys[index]), 1, 0, &properties, bytes),
            "publishing");
        if (i % 16 == 15) take_confirms(connection, i + 1, &confirmed, window);
    }
    take_confirms(connection, messages, &confirmed, 0);
    end_span(span, messages);
    end_connection(connection);
}
