internal import ArgumentParser
internal import Desk
internal import Store
internal import Worker

/// `pushfleet top`: the fleet, live.
struct TopVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Watch the fleet: throughput, outcomes, lanes, budgets, workers, top reasons.",
        discussion: """
            It reads Redis and RabbitMQ anew at every interval and needs no worker alive.
            Ctrl-C ends it and leaves the terminal as it was. Where there is no terminal,
            each view follows the one before.

            Example:
              pushfleet top
              pushfleet top --interval 5s
              pushfleet top --once | head -3
            """
    )

    @Option(help: "How often to look.", transform: Duration.argument)
    var interval: Duration = .seconds(2)
    @Flag(help: "Show one view, with rates over one interval, and end; for scripts and mail.")
    var once = false
    @OptionGroup var config: ConfigurationOption

    func validate() throws {
        guard Self.intervals.contains(self.interval) else {
            throw ValidationError("'--interval' must be 500ms to 1h")
        }
    }

    private static let intervals: ClosedRange<Duration> = .milliseconds(500) ... .seconds(3600)

    func run() async throws {
        let settings = try await self.config.requireFleet([.servers], for: "top").settings
        let source = TopSource(settings: settings)
        let interval = self.interval
        if self.once {
            let before = await source.read()
            try await Task.sleep(for: interval)
            let now = await source.read()
            Terminal.print(source.view(now, after: before).lines(width: 200))
            if now.snapshot.queues == nil || now.snapshot.fleet == nil { throw ExitCode(1) }
            return
        }
        let screen = TopScreen()
        try await StopSignals.run(
            onFirst: { _ in },
            { stop in
                screen.open()
                let showing = Task { await Self.show(source, on: screen, every: interval) }
                for await _ in stop { break }
                // Not waited for: it may hang on a server that does not answer, and shows nothing from here on.
                showing.cancel()
                screen.close()
            }
        )
    }

    private static func show(_ source: TopSource, on screen: TopScreen, every interval: Duration) async {
        var before: TopSource.Reading?
        while !Task.isCancelled {
            let now = await source.read()
            let size = screen.size
            screen.show(source.view(now, after: before).lines(width: size.width, height: size.height))
            before = now
            try? await Task.sleep(for: interval)
        }
    }
}
