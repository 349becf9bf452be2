import SNS

/// What an attempt throws; nil if it throws nothing.
func error(_ attempt: () throws -> some Any) -> SNSError? {
    do {
        _ = try attempt()
        return nil
    } catch {
        return error as? SNSError
    }
}
