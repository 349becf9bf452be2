internal import HTTP2
internal import Loop
internal import Wire

/// One connection of the simulator.
final class Session {
    var place: Int?
    var lastStream = Int32.max
    var newestStream: Int32 = 0
    init(server: Server) {}
    func begin(_ make: (any TransportDelegate) -> Transport, initialStreams: UInt32, settings: Simulator.Settings) {}
    func announce(_ limit: UInt32) {}
    func isOwed(_ change: Int) {}
    func reset(_ stream: Int32, code: UInt32) {}
    func end(withReset: Bool, ending: String) {}
    func closeIfDone() {}
    func answer(_ stream: Int32, with: Answer) -> Bool { true }
    func goAway(lastStream: Int32, code: UInt32, debugData: [UInt8]) {}
}
