/// A verb could not do what was asked. Ends the process with one line on standard error.
struct VerbFailure: Error, Equatable {
    /// What, why, and what to do; without the program's name.
    let message: String
    var code: Int32 = 1

    init(_ message: String, code: Int32 = 1) {
        self.message = message
        self.code = code
    }

    /// `EX_CONFIG` of sysexits.h.
    static let configuration: Int32 = 78
    /// `EX_USAGE` of sysexits.h.
    static let usage: Int32 = 64
}
