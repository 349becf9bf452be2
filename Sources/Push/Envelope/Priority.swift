/// The values of `apns-priority`.
package enum Priority: UInt8, CaseIterable, Sendable {
    /// Power comes before everything else; does not wake the device.
    case powerFirst = 1
    /// Mindful of the device's power; may be grouped or delayed.
    case considerate = 5
    /// Now.
    case immediate = 10
}
