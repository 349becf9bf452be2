import Foundation
import FoundationNetworking
import Testing

@testable import Simulator

/// Talks to a simulator's control API as anyone would.
struct ControlClient: Sendable {
    struct Answer {
        let status: Int
        let json: ControlValue

        /// The value at a path of field names and places in arrays.
        subscript(path: String) -> ControlValue? {
            path.split(separator: ".").reduce(Optional(self.json)) { value, name in
                switch value {
                case .object(let fields)?: fields[String(name)]
                case .array(let values)?: Int(name).flatMap { $0 < values.count ? values[$0] : nil }
                default: nil
                }
            }
        }
    }

    private let port: UInt16

    init(_ simulator: Simulator) throws {
        self.port = try #require(simulator.controlPort)
    }

    func call(_ method: String, _ path: String, _ body: String? = nil) async throws -> Answer {
        var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(self.port)\(path)")))
        request.httpMethod = method
        request.httpBody = body.map { Data($0.utf8) }
        let (data, response) = try await URLSession.shared.data(for: request)
        let status = try #require(response as? HTTPURLResponse).statusCode
        return Answer(status: status, json: try JSONDecoder().decode(ControlValue.self, from: data))
    }

    /// One value of what is answered.
    func value(_ method: String, _ path: String, _ body: String? = nil, of place: String) async throws -> ControlValue?
    {
        try await self.call(method, path, body)[place]
    }

    /// How many there are in one array of what is answered.
    func count(_ method: String, _ path: String, _ body: String? = nil, of place: String) async throws -> Int? {
        try await self.value(method, path, body, of: place)?.count
    }
}

extension ControlValue {
    var count: Int? {
        if case .array(let values) = self { values.count } else { nil }
    }
}
