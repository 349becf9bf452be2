internal import Desk
internal import Push

extension DashboardService {
    func readDead(_ route: Route, _ parameters: Parameters, _ visitor: Doorkeeper.Visitor) async throws(Problem) -> Answer {
        throw Problem(status: 501, code: .refused, error: "not yet")
    }

    func actOnDead(
        _ route: Route,
        _ call: Call,
        _ visitor: Doorkeeper.Visitor,
        _ order: inout Order
    ) async throws(Problem) -> Answer {
        throw Problem(status: 501, code: .refused, error: "not yet")
    }

    func deadLetters(of report: FindReport) async -> [String] { [] }
}
