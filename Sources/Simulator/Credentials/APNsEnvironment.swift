/// Which of Apple's two worlds a simulator plays.
package enum APNsEnvironment: String, CaseIterable, Codable, Sendable {
    case production
    case sandbox
}
