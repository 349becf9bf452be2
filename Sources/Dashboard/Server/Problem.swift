/// Why a call is answered with an error: the contract's `Problem`. Nothing has changed then.
struct Problem: Error, Equatable {
    enum Code: String, Encodable {
        case badRequest = "bad_request"
        case notLoggedIn = "not_logged_in"
        case badToken = "bad_token"
        case forged
        case readOnly = "read_only"
        case notFound = "not_found"
        case changed
        case refused
        case tooMany = "too_many"
        case unavailable
    }

    let status: Int
    let code: Code
    /// What is wrong: a sentence without full stop, in lower case where grammar allows.
    let error: String
    /// What to do about it.
    var nextStep: String?
    /// The field at fault.
    var field: String?
    /// Seconds to wait.
    var retryAfter: Int?

    static func badRequest(_ error: String, field: String? = nil, _ nextStep: String? = nil) -> Problem {
        Problem(status: 400, code: .badRequest, error: error, nextStep: nextStep, field: field)
    }

    static let notLoggedIn = Problem(
        status: 401,
        code: .notLoggedIn,
        error: "you are not logged in",
        nextStep: "Log in with your token."
    )

    static let badToken = Problem(
        status: 401,
        code: .badToken,
        error: "no user has this token",
        nextStep: "Ask whoever runs the fleet for one; it stands in the file that dashboard.tokens_file names."
    )

    static let forged = Problem(
        status: 403,
        code: .forged,
        error: "the call does not come from this page",
        nextStep: "Load the page again."
    )

    static let readOnly = Problem(
        status: 403,
        code: .readOnly,
        error: "you may look, but not act",
        nextStep: "Log in as a user whose role is actor."
    )

    static func notFound(_ error: String, _ nextStep: String? = nil) -> Problem {
        Problem(status: 404, code: .notFound, error: error, nextStep: nextStep)
    }

    static func unavailable(_ error: String, _ nextStep: String) -> Problem {
        Problem(status: 503, code: .unavailable, error: error, nextStep: nextStep)
    }

    static let tooLarge = Problem(
        status: 413,
        code: .badRequest,
        error: "the body is larger than this route takes",
        nextStep: "Send less."
    )
}

extension Problem: Encodable {
    private enum CodingKeys: CodingKey {
        case error, code, nextStep, field
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.error, forKey: .error)
        try container.encode(self.code, forKey: .code)
        try container.encodeIfPresent(self.nextStep, forKey: .nextStep)
        try container.encodeIfPresent(self.field, forKey: .field)
    }
}
