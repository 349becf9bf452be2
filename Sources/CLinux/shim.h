#pragma once
/* Headers of the C library that Swift's Glibc module leaves out. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
