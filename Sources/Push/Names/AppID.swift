/// The name of an app in routing keys, queue names, counters and configuration: `^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`.
///
/// Often the bundle id, but it need not be: two apps may share one.
package struct AppID: Hashable, Sendable, CustomStringConvertible {
    package let name: String

    /// Nil if the name does not have the form above.
    package init?(_ name: String) {
        var name = name
        guard name.withUTF8({ Self.isValid(UnsafeRawBufferPointer($0)) }) else { return nil }
        self.name = name
    }

    package var description: String { self.name }

    /// Whether the bytes are the name of an app.
    package static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard Contract.appBytes.contains(bytes.count), bytes.allSatisfy(Topic.allows) else { return false }
        switch bytes[0] {
        case UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): return false
        default: return true
        }
    }
}
