/// The values of `apns-push-type`.
///
/// Apple, "Sending notification requests to APNs"; `controls` and `widgets` from the WidgetKit page.
package enum PushType: String, CaseIterable, Sendable {
    case alert
    case background
    case location
    case voip
    case complication
    case fileprovider
    case mdm
    case liveactivity
    case pushtotalk
    case widgets
    case controls

    /// The type with this name; nil for an unknown one.
    package init?(_ name: Range<Int>, in scanner: borrowing JSONScanner) {
        let found: Self? =
            switch name.count {
            case 3: scanner.equals(name, "mdm") ? .mdm : nil
            case 4: scanner.equals(name, "voip") ? .voip : nil
            case 5: scanner.equals(name, "alert") ? .alert : nil
            case 7: scanner.equals(name, "widgets") ? .widgets : nil
            case 8:
                scanner.equals(name, "location")
                    ? .location : scanner.equals(name, "controls") ? .controls : nil
            case 10:
                scanner.equals(name, "background")
                    ? .background : scanner.equals(name, "pushtotalk") ? .pushtotalk : nil
            case 12:
                scanner.equals(name, "liveactivity")
                    ? .liveactivity
                    : scanner.equals(name, "complication")
                        ? .complication : scanner.equals(name, "fileprovider") ? .fileprovider : nil
            default: nil
            }
        guard let found else { return nil }
        self = found
    }

    /// Its place among all cases, for tables that are asked for every push: a dictionary would hash the name.
    package var index: Int { Int(unsafeBitCast(self, to: UInt8.self)) }

    /// What `priority` means when a message leaves it out.
    package var defaultPriority: Priority { self.rules.defaultPriority }
}
