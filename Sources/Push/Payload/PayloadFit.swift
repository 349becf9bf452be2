/// What becomes of a payload over its limit.
package enum PayloadFit: String, CaseIterable, Sendable {
    /// It is refused.
    case reject
    /// The alert's text is shortened until it fits.
    case truncate
}
