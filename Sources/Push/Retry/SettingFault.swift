/// A setting that cannot be used, named as it stands in the configuration.
package struct SettingFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// For example `min_backoff`.
    package let setting: String

    /// One sentence that names the setting and the fix.
    package let detail: String

    package init(_ setting: String, _ detail: String) {
        self.setting = setting
        self.detail = detail
    }

    package var description: String { self.detail }
}
