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
        let interval = self.interval
        if self.once {
            let before = await Self.look(settings)
            try await Task.sleep(for: interval)
            let now = await Self.look(settings)
            Terminal.print(Self.view(now, after: before, settings).lines(width: 200))
            if !now.isWhole { throw ExitCode(1) }
            return
        }
        let screen = TopScreen()
        try await StopSignals.run(
            onFirst: { _ in },
            { stop in
                screen.open()
                let showing = Task { await Self.show(settings, on: screen, every: interval) }
                for await _ in stop { break }
                // Not waited for: it may hang on a server that does not answer, and shows nothing from here on.
                showing.cancel()
                screen.close()
            }
        )
    }

    /// Waits less long than other verbs: the next look comes soon.
    private static func look(_ settings: FleetSettings) async -> FleetLook {
        await FleetLook.take(settings, for: "top", timeout: .seconds(5))
    }

    private static func view(_ now: FleetLook, after before: FleetLook?, _ settings: FleetSettings) -> TopView {
        TopView(
            before: before?.snapshot.fleet,
            now: now.snapshot,
            budgets: settings.budgets,
            problems: now.problems
        )
    }

    private static func show(_ settings: FleetSettings, on screen: TopScreen, every interval: Duration) async {
        var before: FleetLook?
        while !Task.isCancelled {
            let now = await Self.look(settings)
            let size = screen.size
            screen.show(Self.view(now, after: before, settings).lines(width: size.width, height: size.height))
            before = now
            try? await Task.sleep(for: interval)
        }
    }
}
