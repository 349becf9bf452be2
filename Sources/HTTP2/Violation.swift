/// A rule that the peer broke.
struct Violation {
    let rule: String
    /// What our GOAWAY says.
    let code: UInt32

    init(_ rule: String, code: UInt32 = HTTP2ErrorCode.enhanceYourCalm) {
        self.rule = rule
        self.code = code
    }

    static let tooManyFrames = Violation("too many frames to no purpose")
    static let tooMuchData = Violation("too much data to no purpose")
}
