/// The clock of Redis in Lua. Scripts know no other: workers' clocks differ, and a script is one moment.
enum ServerClock {
    /// Declares the local `now`: milliseconds since 1970.
    static let milliseconds = """
        local clock = redis.call('TIME')
        local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
        """

    /// Declares the local `now`: microseconds since 1970.
    static let microseconds = """
        local clock = redis.call('TIME')
        local now = clock[1] * 1000000 + clock[2]
        """
}
