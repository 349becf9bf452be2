/// What `apns-push-type` may say, and the suffix its topic then has.
///
/// Source: Apple, "Sending notification requests to APNs", "Updating widgets with WidgetKit push notifications" and
/// "Starting and updating Live Activities with ActivityKit push notifications".
enum PushKind: UInt8, CaseIterable, Sendable {
    case alert = 1
    case background, location, voip, complication, fileprovider, mdm, liveactivity, pushtotalk, widgets, controls

    init?(_ text: ArraySlice<UInt8>) {
        guard let type = Self.allCases.first(where: { text.elementsEqual($0.name.utf8) }) else { return nil }
        self = type
    }

    var name: String {
        switch self {
        case .alert: "alert"
        case .background: "background"
        case .location: "location"
        case .voip: "voip"
        case .complication: "complication"
        case .fileprovider: "fileprovider"
        case .mdm: "mdm"
        case .liveactivity: "liveactivity"
        case .pushtotalk: "pushtotalk"
        case .widgets: "widgets"
        case .controls: "controls"
        }
    }

    /// What follows the bundle id in the topic.
    var topicSuffix: String {
        switch self {
        case .alert, .background, .mdm: ""
        case .location: ".location-query"
        case .voip: ".voip"
        case .complication: ".complication"
        case .fileprovider: ".pushkit.fileprovider"
        case .liveactivity: ".push-type.liveactivity"
        case .pushtotalk: ".voip-ptt"
        case .widgets: ".push-type.widgets"
        case .controls: ".push-type.controls"
        }
    }

    /// The types whose topic is more than the bundle id.
    static let suffixed = Self.allCases.filter { !$0.topicSuffix.isEmpty }

    /// Bytes of the body, at most.
    var bodyLimit: Int { self == .voip ? 5120 : 4096 }
}
