// Writes to Redis as the worker does: so many commands in one go, so many times, and the answers read before the next.
#include "floor.h"
#include <hiredis/hiredis.h>

int main(int count, char **arguments) {
    program = "redis";
    long port = number_option(count, arguments, "--port", -1);
    long commands = number_option(count, arguments, "--commands", -1);
    long batch = number_option(count, arguments, "--batch", 10);

    redisContext *redis = redisConnect("127.0.0.1", port);
    if (redis == NULL || redis->err) die("connecting: %s", redis ? redis->errstr : "no memory");
    struct span span = begin_span();
    for (long sent = 0; sent < commands;) {
        long now = commands - sent < batch ? commands - sent : batch;
        for (long i = 0; i < now; i++)
            if (redisAppendCommand(redis, "HINCRBY floor:%ld sent %ld", i, i) != REDIS_OK) die("%s", redis->errstr);
        for (long i = 0; i < now; i++) {
            redisReply *reply;
            if (redisGetReply(redis, (void **)&reply) != REDIS_OK) die("%s", redis->errstr);
            freeReplyObject(reply);
        }
        sent += now;
    }
    end_span(span, commands);
    redisFree(redis);
}
