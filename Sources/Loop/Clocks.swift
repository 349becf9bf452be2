internal import Glibc
package import Push

/// CLOCK_BOOTTIME: never steps and counts suspended time, so that a lease ends while the machine sleeps.
package enum MonotonicClock {
    package static func now() -> MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}

/// CLOCK_REALTIME.
package enum WallClock {
    package static func now() -> UnixTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return UnixTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
