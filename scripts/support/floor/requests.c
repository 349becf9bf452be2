// A bare APNs client: nghttp2 and OpenSSL on one thread, a constant number of requests in flight, every one of them
// with a token and an apns-id of its own, as the worker's are.
#include "floor.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { OUTBOX = 256 * 1024, INBOX = 64 * 1024 };

struct connection {
    int socket;
    SSL *tls;
    nghttp2_session *session;
    char *outbox;
    size_t unsent;
    long in_flight;
    // Whether epoll is asked to tell when the kernel takes more.
    bool waits_to_write;
    // Whether the server has answered: until then Apple, and the simulator, allow one stream.
    bool is_open;
};

static long in_flight_limit, wanted, submitted, answered, refused, refused_percent;
static const char *authorization, *topic;
static char *body;
static size_t body_size;
static int poller;
static struct connection *connections;
static long connection_count;

static ssize_t read_body(
    nghttp2_session *session, int32_t stream, uint8_t *to, size_t size, uint32_t *flags, nghttp2_data_source *source,
    void *context) {
    (void)session, (void)stream, (void)context;
    // Bodies are below a frame's size, and the windows are kept open: one call takes it all, or the rest is next.
    size_t offset = (size_t)source->ptr;
    size_t count = body_size - offset < size ? body_size - offset : size;
    memcpy(to, body + offset, count);
    source->ptr = (void *)(offset + count);
    if (offset + count == body_size) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return count;
}

#define FIELD(NAME, VALUE, SIZE, FLAGS) \
    {(uint8_t *)NAME, (uint8_t *)(VALUE), sizeof NAME - 1, SIZE, NGHTTP2_NV_FLAG_NO_COPY_NAME | (FLAGS)}
#define FIXED NGHTTP2_NV_FLAG_NO_COPY_VALUE

static void submit(struct connection *connection) {
    char path[10 + 64], id[36];
    bool is_refused = submitted * refused_percent / 100 != (submitted + 1) * refused_percent / 100;
    memcpy(path, is_refused ? "/3/device/0503" : "/3/device/0000", 14);
    write_hex(path + 14, submitted * 0x9e3779b97f4a7c15u, 16);
    write_hex(path + 30, submitted, 12);
    memset(path + 42, '0', 32);
    write_hex(id, submitted * 0xff51afd7ed558ccdu, 8);
    memcpy(id + 8, "-4b1d-5c3e-8f00-", 16);
    write_hex(id + 24, submitted, 12);
    nghttp2_nv fields[] = {
        FIELD(":scheme", "https", 5, FIXED),
        FIELD(":authority", "localhost", 9, FIXED),
        FIELD(":method", "POST", 4, FIXED),
        FIELD(":path", path, sizeof path, NGHTTP2_NV_FLAG_NO_INDEX),
        FIELD("apns-id", id, sizeof id, NGHTTP2_NV_FLAG_NO_INDEX),
        FIELD("apns-topic", topic, strlen(topic), FIXED),
        FIELD("apns-push-type", "alert", 5, FIXED),
        FIELD("apns-priority", "10", 2, FIXED),
        FIELD("authorization", authorization, strlen(authorization), FIXED),
    };
    nghttp2_data_provider provider = {.source.ptr = NULL, .read_callback = read_body};
    int32_t stream =
        nghttp2_submit_request(connection->session, NULL, fields, sizeof fields / sizeof *fields, &provider, NULL);
    if (stream < 0) die("submitting: %s", nghttp2_strerror(stream));
    submitted++;
    connection->in_flight++;
}

static int header_came(
    nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_size, const uint8_t *value,
    size_t size, uint8_t flags, void *context) {
    (void)session, (void)frame, (void)flags, (void)context;
    if (name_size == 7 && memcmp(name, ":status", 7) == 0 && (size != 3 || memcmp(value, "200", 3) != 0)) refused++;
    return 0;
}

static int stream_closed(nghttp2_session *session, int32_t stream, uint32_t code, void *context) {
    (void)session;
    if (code != 0) die("stream %d was reset with code %u", stream, code);
    struct connection *connection = context;
    connection->in_flight--;
    connection->is_open = true;
    answered++;
    return 0;
}

static void refill(struct connection *connection) {
    long limit = connection->is_open ? in_flight_limit : 1;
    while (connection->in_flight < limit && submitted < wanted) submit(connection);
}

static void watch(struct connection *connection, int operation, bool writes) {
    struct epoll_event event = {.events = EPOLLIN | (writes ? EPOLLOUT : 0), .data.ptr = connection};
    if (epoll_ctl(poller, operation, connection->socket, &event) != 0) die("epoll_ctl: %s", strerror(errno));
    connection->waits_to_write = writes;
}

// One write for all that the session has, as far as the kernel takes it.
static void flush(struct connection *connection) {
    for (;;) {
        while (connection->unsent < OUTBOX / 2) {
            const uint8_t *bytes;
            ssize_t size = nghttp2_session_mem_send(connection->session, &bytes);
            if (size < 0) die("sending: %s", nghttp2_strerror(size));
            if (size == 0) break;
            memcpy(connection->outbox + connection->unsent, bytes, size);
            connection->unsent += size;
        }
        if (connection->unsent == 0) break;
        size_t sent = 0;
        while (sent < connection->unsent) {
            int count = SSL_write(connection->tls, connection->outbox + sent, connection->unsent - sent);
            if (count <= 0) break;
            sent += count;
        }
        connection->unsent -= sent;
        memmove(connection->outbox, connection->outbox + sent, connection->unsent);
        if (connection->unsent > 0) break;
    }
    bool must_wait = connection->unsent > 0;
    if (connection->waits_to_write != must_wait) watch(connection, EPOLL_CTL_MOD, must_wait);
}

static void receive(struct connection *connection) {
    static uint8_t inbox[INBOX];
    for (;;) {
        int count = SSL_read(connection->tls, inbox, sizeof inbox);
        if (count <= 0) {
            if (SSL_get_error(connection->tls, count) == SSL_ERROR_WANT_READ) return;
            die("the server closed the connection");
        }
        ssize_t taken = nghttp2_session_mem_recv(connection->session, inbox, count);
        if (taken < 0) die("receiving: %s", nghttp2_strerror(taken));
    }
}

static void open_connection(
    struct connection *connection, SSL_CTX *tls, nghttp2_session_callbacks *callbacks, long port) {
    connection->socket = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (connect(connection->socket, (struct sockaddr *)&address, sizeof address) != 0)
        die("connecting: %s", strerror(errno));
    int yes = 1;
    setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    connection->tls = SSL_new(tls);
    SSL_set_fd(connection->tls, connection->socket);
    SSL_set_tlsext_host_name(connection->tls, "localhost");
    SSL_set1_host(connection->tls, "localhost");
    if (SSL_connect(connection->tls) != 1) die("TLS: %s", ERR_error_string(ERR_get_error(), NULL));
    fcntl(connection->socket, F_SETFL, O_NONBLOCK);
    connection->outbox = malloc(OUTBOX);

    nghttp2_option *option;
    nghttp2_option_new(&option);
    nghttp2_option_set_no_closed_streams(option, 1);
    nghttp2_session_client_new2(&connection->session, callbacks, connection, option);
    nghttp2_option_del(option);
    nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0}};
    nghttp2_submit_settings(connection->session, NGHTTP2_FLAG_NONE, settings, 1);
    nghttp2_session_set_local_window_size(connection->session, NGHTTP2_FLAG_NONE, 0, 1 << 20);
    watch(connection, EPOLL_CTL_ADD, false);
}

static void wait_for_events(void) {
    struct epoll_event events[64];
    int count = epoll_wait(poller, events, 64, 30000);
    if (count == 0) die("nothing came for 30 seconds, after %ld of %ld answers", answered, wanted);
    if (count < 0) die("epoll_wait: %s", strerror(errno));
    for (int i = 0; i < count; i++) {
        struct connection *connection = events[i].data.ptr;
        receive(connection);
        refill(connection);
        flush(connection);
    }
}

// Sends and waits until `total` requests in all are answered.
static void run_until(long total) {
    wanted = total;
    for (long i = 0; i < connection_count; i++) {
        refill(&connections[i]);
        flush(&connections[i]);
    }
    while (answered < wanted) wait_for_events();
}

int main(int count, char **arguments) {
    program = "requests";
    long port = number_option(count, arguments, "--port", -1);
    long requests = number_option(count, arguments, "--requests", -1);
    connection_count = number_option(count, arguments, "--connections", 1);
    in_flight_limit = number_option(count, arguments, "--in-flight", 750);
    topic = text_option(count, arguments, "--topic", NULL);
    authorization = text_option(count, arguments, "--authorization", NULL);
    refused_percent = number_option(count, arguments, "--refused-percent", 0);
    body = read_file(text_option(count, arguments, "--payload", NULL));
    body_size = strlen(body);

    SSL_CTX *tls = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_min_proto_version(tls, TLS1_2_VERSION);
    SSL_CTX_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(tls, 1);
    SSL_CTX_set_default_read_buffer_len(tls, INBOX);
    SSL_CTX_set_alpn_protos(tls, (const unsigned char *)"\x02h2", 3);
    if (SSL_CTX_load_verify_file(tls, text_option(count, arguments, "--ca", NULL)) != 1) die("--ca cannot be read");
    SSL_CTX_set_verify(tls, SSL_VERIFY_PEER, NULL);
    nghttp2_session_callbacks *callbacks;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, header_came);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, stream_closed);

    poller = epoll_create1(0);
    connections = calloc(connection_count, sizeof *connections);
    for (long i = 0; i < connection_count; i++) open_connection(&connections[i], tls, callbacks, port);

    // The first answers open the streams and teach HPACK what repeats; they are no part of it.
    long warm = connection_count * 100;
    run_until(warm);
    refused = 0;
    struct span span = begin_span();
    run_until(warm + requests);
    end_span(span, requests);
    long expected = requests * refused_percent / 100;
    if (labs(refused - expected) > 1) die("%ld requests were refused, %ld should have been", refused, expected);
}
