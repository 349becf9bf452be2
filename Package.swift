// swift-tools-version: 6.2

import PackageDescription

// One list per kind; the rooms stand in the order in which they build on each other.
// `scripts/check-walls` holds imports to the same order.

let dependencies: [Package.Dependency] = [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: ["YAML"]),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
]

let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let asyncHTTPClient: Target.Dependency = .product(name: "AsyncHTTPClient", package: "async-http-client")
let configuration: Target.Dependency = .product(name: "Configuration", package: "swift-configuration")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let cryptoExtras: Target.Dependency = .product(name: "CryptoExtras", package: "swift-crypto")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let hummingbirdTLS: Target.Dependency = .product(name: "HummingbirdTLS", package: "hummingbird")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let serviceLifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let unixSignals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let yams: Target.Dependency = .product(name: "Yams", package: "Yams")

// MARK: C libraries: module maps and inline shims only

let libraries: [Target] = [
    .systemLibrary(name: "CLinux"),
    .systemLibrary(name: "CNghttp2", providers: [.apt(["libnghttp2-dev"])]),
    .systemLibrary(name: "COpenSSL", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CRabbitMQ", providers: [.apt(["librabbitmq-dev"])]),
    .systemLibrary(name: "CHiredis", providers: [.apt(["libhiredis-dev"])]),
]

// MARK: Rooms

let rooms: [Target] = [
    .target(name: "Push"),
    .target(name: "SNS", dependencies: ["Push", crypto]),
    .target(name: "Loop", dependencies: ["Push", "CLinux"]),
    .target(name: "Wire", dependencies: ["Loop", "Push", "CLinux", "COpenSSL"]),
    .target(name: "HTTP2", dependencies: ["Wire", "Loop", "Push", "CNghttp2"]),
    .target(name: "Broker", dependencies: ["Wire", "Loop", "Push", "CRabbitMQ"]),
    .target(name: "Store", dependencies: ["Wire", "Loop", "Push", "CHiredis"]),
    .target(name: "Registry", dependencies: ["Store", "Wire", "Loop", "Push", crypto]),
    .target(name: "APNs", dependencies: ["HTTP2", "Wire", "Loop", "Push", crypto]),
    .target(name: "Worker", dependencies: ["APNs", "Broker", "Store", "Wire", "Loop", "Push", logging]),
    .target(
        name: "Simulator",
        dependencies: ["APNs", "HTTP2", "Wire", "Loop", "Push", crypto, hummingbird, logging, yams]
    ),
    .target(name: "Desk", dependencies: ["APNs", "Broker", "Store", "Wire", "Loop", "Push", crypto]),
    .target(name: "WebServer", dependencies: ["Push", hummingbird, hummingbirdTLS, logging, serviceLifecycle]),
    .target(
        name: "Gateway",
        dependencies: [
            "WebServer", "SNS", "Registry", "APNs", "Broker", "Store", "Wire", "Loop", "Push", asyncHTTPClient, crypto,
            cryptoExtras, hummingbird, logging,
        ]
    ),
    .target(
        name: "Dashboard",
        dependencies: [
            "WebServer", "Desk", "Broker", "Store", "Wire", "Loop", "Push", crypto, hummingbird, logging,
        ],
        exclude: ["API.md"],
        resources: [.embedInCode("Page")]
    ),
    .target(
        name: "Admin",
        dependencies: ["WebServer", "Worker", "APNs", "Store", "Loop", "Push", hummingbird]
    ),
    .executableTarget(
        name: "pushfleet",
        dependencies: [
            "Admin", "Dashboard", "Gateway", "WebServer", "SNS", "Registry", "Desk", "Simulator", "Worker", "APNs",
            "Broker",
            "Store", "HTTP2", "Wire",
            "Loop", "Push",
            argumentParser, configuration, logging, unixSignals, yams,
        ]
    ),
]

// The simulation of the fleet looks into the rooms, which only a build with tests allows: it is a part of its tests, and a
// module of its own only for `scripts/simulate`.
let isSimulating = Context.environment["PUSHFLEET_SIMULATE"] != nil
let simulated: [Target.Dependency] = ["TestRandom", "Worker", "APNs", "Broker", "Store", "Push"]
let fleetSimulationTests: Target =
    isSimulating
    ? .target(name: "FleetSimulation", dependencies: simulated, path: "Tests/FleetSimulationTests/Simulation")
    : .testTarget(name: "FleetSimulationTests", dependencies: simulated + ["TestServers"])
let simulators: [Target] =
    isSimulating
    ? [.executableTarget(name: "SimulateFleet", dependencies: ["FleetSimulation"], path: "Tests/SimulateFleet")] : []

// MARK: Tests: one target per room; TestServers starts the real RabbitMQ and Redis

let tests: [Target] = [
    .target(name: "TestLoop", dependencies: ["Loop"], path: "Tests/TestLoop"),
    .target(name: "TestRandom", path: "Tests/TestRandom"),
    .target(name: "TestModels", dependencies: ["Store", "Push"], path: "Tests/TestModels"),
    .target(name: "TestServers", path: "Tests/TestServers"),
    .target(
        name: "TestFleet",
        dependencies: ["Worker", "Simulator", "Broker", "Store", "Push", "TestServers"],
        path: "Tests/TestFleet"
    ),
    .testTarget(name: "PushTests", dependencies: ["TestRandom", "Push"]),
    .testTarget(name: "SNSTests", dependencies: ["TestRandom", "SNS", "Push", crypto]),
    .testTarget(name: "LoopTests", dependencies: ["TestRandom", "Loop", "Push"]),
    .testTarget(name: "WireTests", dependencies: ["TestLoop", "Wire", "Loop", "Push", "TestServers"]),
    .target(name: "FuzzCases", dependencies: ["TestRandom", "HTTP2", "Wire", "Loop"], path: "Tests/FuzzCases"),
    .testTarget(
        name: "HTTP2Tests",
        dependencies: ["FuzzCases", "TestLoop", "TestRandom", "HTTP2", "Wire", "Loop", "Push", "TestServers"],
        exclude: ["Corpus"]
    ),
    .testTarget(name: "BrokerTests", dependencies: ["TestRandom", "Broker", "Wire", "Loop", "Push", "TestServers"]),
    .testTarget(
        name: "StoreTests",
        dependencies: ["TestModels", "TestRandom", "Store", "Wire", "Loop", "Push", "TestServers"]
    ),
    .testTarget(
        name: "RegistryTests",
        dependencies: ["TestRandom", "Registry", "Store", "Wire", "Loop", "Push", "TestServers", crypto]
    ),
    .testTarget(
        name: "APNsTests",
        dependencies: ["TestRandom", "APNs", "HTTP2", "Wire", "Loop", "Push", "TestServers", crypto]
    ),
    .testTarget(
        name: "SimulatorTests",
        dependencies: ["Simulator", "APNs", "HTTP2", "Wire", "Loop", "Push", "TestServers", crypto, yams]
    ),
    .testTarget(
        name: "WorkerTests",
        dependencies: ["TestModels", "TestRandom", "Worker", "Push", "APNs", "Broker", "Store", logging]
    ),
    .testTarget(
        name: "PushfleetTests",
        dependencies: [
            "TestRandom", "pushfleet", "Registry", "Desk", "Worker", "APNs", "Broker", "Store", "Wire", "Push",
            "TestServers", argumentParser, crypto,
        ]
    ),
    .testTarget(name: "AdminTests", dependencies: ["Admin", "WebServer", "Worker", "Store", "Loop", "Push"]),
    .testTarget(
        name: "DashboardTests",
        dependencies: [
            "Dashboard", "Desk", "Broker", "Store", "Wire", "Loop", "Push", "TestServers", crypto, logging,
        ]
    ),
    .testTarget(
        name: "GatewayTests",
        dependencies: [
            "Gateway", "WebServer", "SNS", "Registry", "Broker", "Store", "Wire", "Loop", "Push", "TestRandom",
            "TestServers",
            crypto,
            cryptoExtras, hummingbird, hummingbirdTLS, logging,
        ]
    ),
    fleetSimulationTests,
    .testTarget(name: "TestServersTests", dependencies: ["TestServers"]),
    .testTarget(
        name: "FaultTests",
        dependencies: [
            "Worker", "Simulator", "APNs", "Broker", "Store", "HTTP2", "Wire", "Loop", "Push", "TestFleet",
            "TestRandom", "TestServers", crypto,
        ]
    ),
    .testTarget(
        name: "ScenarioTests",
        dependencies: ["Worker", "Simulator", "Broker", "Store", "Push", "TestFleet", "TestServers", logging]
    ),
    .testTarget(
        name: "EndToEndTests",
        dependencies: [
            "Registry", "Worker", "Simulator", "APNs", "Broker", "Store", "HTTP2", "Wire", "Loop", "Push",
            "TestFleet", "TestServers",
        ]
    ),
]

// Built by `scripts/fuzz` only, with libFuzzer and instrumented rooms.
let fuzzers: [Target] = [
    .executableTarget(name: "FuzzHTTP2", dependencies: ["FuzzCases", "Loop"], path: "Tests/FuzzHTTP2")
]

// Built by `scripts/cost` only, in release mode: one worker whose instructions are counted.
let costs: [Target] = [
    .executableTarget(
        name: "PathCost",
        dependencies: ["Worker", "APNs", "Store", "Push", logging],
        path: "Tests/PathCost",
        // Debian's valgrind gives up on the debug information of newer compilers.
        linkerSettings: [.unsafeFlags(["-Xlinker", "--strip-debug"])]
    )
]

// Built by `scripts/bench-gateway` only, in release mode: what the gateway is compared with.
let echoes: [Target] = [
    .executableTarget(name: "EchoRoute", dependencies: [hummingbird, logging], path: "Tests/EchoRoute")
]

let package = Package(
    name: "pushfleet",
    products: [.executable(name: "pushfleet", targets: ["pushfleet"])],
    dependencies: dependencies,
    targets: libraries + rooms + tests + simulators
        + (Context.environment["PUSHFLEET_FUZZ"] == nil ? [] : fuzzers)
        + (Context.environment["PUSHFLEET_COST"] == nil ? [] : costs)
        + (Context.environment["PUSHFLEET_ECHO"] == nil ? [] : echoes),
    swiftLanguageModes: [.v6]
)

// Appended in a loop so that no target can forget them.
for target in package.targets where target.type != .system {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),  // SE-0335
        .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
        .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // SE-0461
        .treatAllWarnings(as: .error),
        // Tests run with the checks. In release they cost a fifteenth of a push, and guard one thread's own fields.
        .unsafeFlags(["-enforce-exclusivity=unchecked", "-cross-module-optimization"], .when(configuration: .release)),
    ]
}
