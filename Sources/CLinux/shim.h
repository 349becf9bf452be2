#pragma once
/* Headers of the C library that Swift's Glibc module leaves out, and one call it hides (_GNU_SOURCE). */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

static inline void pushfleet_name_this_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

extern int accept4(int, struct sockaddr *restrict, socklen_t *restrict, int);

static inline int pushfleet_accept(int listener) {
    return accept4(listener, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC);
}
