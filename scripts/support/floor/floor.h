// Shared by the programs that measure what the C libraries alone cost: options, time, and the line of JSON each prints.
#pragma once

#define _GNU_SOURCE
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static const char *program;

__attribute__((noreturn, format(printf, 1, 2))) static inline void die(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", program);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

// The value of `--name value`; `fallback` if it is not given, and an error if there is no fallback either.
static inline const char *text_option(int count, char **arguments, const char *name, const char *fallback) {
    for (int i = 1; i + 1 < count; i += 2)
        if (strcmp(arguments[i], name) == 0) return arguments[i + 1];
    if (fallback == NULL) die("%s is missing", name);
    return fallback;
}

static inline long number_option(int count, char **arguments, const char *name, long fallback) {
    const char *text = text_option(count, arguments, name, "");
    if (*text == '\0') {
        if (fallback < 0) die("%s is missing", name);
        return fallback;
    }
    char *end;
    long value = strtol(text, &end, 10);
    if (*end != '\0' || value < 0) die("%s must be a whole number, not '%s'", name, text);
    return value;
}

// All of a file as text.
static inline char *read_file(const char *name) {
    FILE *file = fopen(name, "r");
    if (file == NULL) die("%s cannot be read", name);
    char *text = calloc(1, 65536);
    if (fread(text, 1, 65535, file) == 0) die("%s is empty", name);
    fclose(file);
    return text;
}

static inline int64_t nanoseconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// User and system time of this process so far.
static inline double cpu_microseconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

// What is measured: from begin_span to end_span, which prints it.
struct span {
    double cpu;
    int64_t begin;
};

static inline struct span begin_span(void) {
    return (struct span){cpu_microseconds(), nanoseconds(CLOCK_MONOTONIC)};
}

static inline void end_span(struct span span, long count) {
    double cpu = cpu_microseconds() - span.cpu;
    double seconds = (nanoseconds(CLOCK_MONOTONIC) - span.begin) / 1e9;
    printf("{\"count\": %ld, \"cpu_us\": %.0f, \"seconds\": %.4f}\n", count, cpu, seconds);
}

// Writes the lower-case hexadecimal digits of `value`.
static inline void write_hex(char *to, uint64_t value, int digits) {
    for (int i = digits - 1; i >= 0; i--, value >>= 4) to[i] = "0123456789abcdef"[value & 15];
}
