internal import Push
internal import Registry
internal import Store

/// Whether Apple refuses an application's credentials, as the fleet's pauses tell it.
///
/// Workers pause an app when Apple refuses its credential, try again by single pushes, and say in Redis when the next may
/// go. A pause whose next try is due tells nothing yet: that is how it is after new credentials, or after somebody says
/// that the old ones are good.
enum CredentialRefusal {
    /// An attribute of ours, never shown: when the application was enabled last, in milliseconds since 1970.
    static let enabledAt = "pushfleet.enabled_at"

    /// How long workers may take to use new credentials; until then their answers may be to the old ones.
    static let grace = Duration.seconds(15)

    /// Whether a pause is about credentials that came through the API.
    static func concerns(_ pause: AppPause) -> Bool {
        guard pause.app.hasPrefix("sns."), pause.kind == .fault, pause.isPaused else { return false }
        return pause.cause == "credential" && (pause.left ?? .zero) > .zero
    }

    /// Whether the pause disables the application.
    static func disables(_ pause: AppPause, _ application: PlatformApplication, at now: UnixTime) -> Bool {
        guard Self.concerns(pause), application.isEnabled else { return false }
        guard let time = application.attributes[Self.enabledAt].flatMap({ Int64($0) }) else { return true }
        return now - UnixTime(milliseconds: time) > Self.grace
    }
}
