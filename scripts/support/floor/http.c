// A bare HTTP/1.1 client: one request after the other on each of some connections, all alike but for one value.
//
// Wherever the request has a run of '#', the value is written over it: the number of the request in hexadecimal digits,
// or the next line of a file, which must be as long. Any status but 200 ends it.
#include "floor.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { INBOX = 64 * 1024, RUNS = 16 };

struct connection {
    int socket;
    char *outbox;
    char inbox[INBOX];
    size_t filled;
    int64_t sent_at;
};

static long wanted, submitted, answered, first;
static char *request, *values;
static size_t request_size, value_size;
static struct { size_t start, size; } runs[RUNS];
static int run_count;
static double *delays;

static void find_runs(void) {
    for (size_t at = 0; at < request_size;) {
        size_t size = strspn(request + at, "#");
        if (size >= 4) {
            if (run_count == RUNS) die("there are too many runs of #");
            runs[run_count].start = at;
            runs[run_count++].size = size;
            if (values != NULL && size != value_size) die("a run of # is not as long as the values");
        }
        at += size + 1;
    }
}

static void submit(struct connection *connection) {
    for (int i = 0; i < run_count; i++) {
        char *to = connection->outbox + runs[i].start;
        if (values != NULL)
            memcpy(to, values + submitted * (value_size + 1), value_size);
        else
            write_hex(to, first + submitted, runs[i].size);
    }
    submitted++;
    connection->sent_at = nanoseconds(CLOCK_MONOTONIC);
    for (size_t sent = 0; sent < request_size;) {
        ssize_t count = send(connection->socket, connection->outbox + sent, request_size - sent, MSG_NOSIGNAL);
        if (count <= 0) die("sending: %s", strerror(errno));
        sent += count;
    }
}

// Takes what has come; true if the answer is whole.
static bool receive(struct connection *connection) {
    ssize_t count = recv(
        connection->socket, connection->inbox + connection->filled, INBOX - 1 - connection->filled, 0);
    if (count <= 0) die("the connection ended: %s", count == 0 ? "closed" : strerror(errno));
    connection->filled += count;
    connection->inbox[connection->filled] = '\0';
    char *end = strstr(connection->inbox, "\r\n\r\n");
    if (end == NULL) return false;
    char *length = strcasestr(connection->inbox, "\r\ncontent-length:");
    if (length == NULL || length > end) die("an answer without content-length:\n%s", connection->inbox);
    size_t whole = end + 4 - connection->inbox + strtoul(length + 17, NULL, 10);
    if (whole >= INBOX) die("an answer is too long");
    if (connection->filled < whole) return false;
    if (strncmp(connection->inbox, "HTTP/1.1 200", 12) != 0) die("refused:\n%s", connection->inbox);
    connection->filled = 0;
    return true;
}

static int compare(const void *left, const void *right) {
    double difference = *(const double *)left - *(const double *)right;
    return (difference > 0) - (difference < 0);
}

static char *read_whole(const char *name, size_t *size) {
    FILE *file = fopen(name, "r");
    if (file == NULL) die("%s cannot be read", name);
    fseek(file, 0, SEEK_END);
    *size = ftell(file);
    rewind(file);
    char *text = malloc(*size + 1);
    if (fread(text, 1, *size, file) != *size) die("%s cannot be read", name);
    fclose(file);
    return text;
}

int main(int count, char **arguments) {
    program = "http";
    long port = number_option(count, arguments, "--port", -1);
    long connections = number_option(count, arguments, "--connections", 16);
    wanted = number_option(count, arguments, "--requests", -1);
    first = number_option(count, arguments, "--first", 0);
    request = read_whole(text_option(count, arguments, "--request", NULL), &request_size);
    const char *file = text_option(count, arguments, "--values", "");
    if (*file != '\0') {
        size_t size;
        values = read_whole(file, &size);
        value_size = strcspn(values, "\n");
        if (size / (value_size + 1) < (size_t)wanted) die("there are too few values");
    }
    find_runs();
    if (connections > wanted) connections = wanted;
    delays = malloc(wanted * sizeof *delays);

    int poller = epoll_create1(0);
    struct connection *all = calloc(connections, sizeof *all);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    for (long i = 0; i < connections; i++) {
        all[i].socket = socket(AF_INET, SOCK_STREAM, 0);
        all[i].outbox = memcpy(malloc(request_size), request, request_size);
        if (connect(all[i].socket, (struct sockaddr *)&address, sizeof address) != 0)
            die("connecting: %s", strerror(errno));
        setsockopt(all[i].socket, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &all[i]};
        epoll_ctl(poller, EPOLL_CTL_ADD, all[i].socket, &event);
    }
    struct span span = begin_span();
    for (long i = 0; i < connections; i++) submit(&all[i]);
    while (answered < wanted) {
        struct epoll_event events[64];
        int ready = epoll_wait(poller, events, 64, 60000);
        if (ready <= 0) die("no answer for a minute, after %ld of %ld", answered, wanted);
        for (int i = 0; i < ready; i++) {
            struct connection *connection = events[i].data.ptr;
            if (!receive(connection)) continue;
            delays[answered++] = (nanoseconds(CLOCK_MONOTONIC) - connection->sent_at) / 1e6;
            if (submitted < wanted) submit(connection);
        }
    }
    double seconds = (nanoseconds(CLOCK_MONOTONIC) - span.begin) / 1e9;
    qsort(delays, wanted, sizeof *delays, compare);
    printf(
        "{\"count\": %ld, \"cpu_us\": %.0f, \"seconds\": %.4f, \"p50_ms\": %.3f, \"p99_ms\": %.3f, \"max_ms\": %.3f}\n",
        wanted, cpu_microseconds() - span.cpu, seconds, delays[wanted / 2], delays[wanted * 99 / 100],
        delays[wanted - 1]);
}
