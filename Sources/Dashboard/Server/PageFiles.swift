internal import Crypto
internal import Push

/// The page's files, compiled in: the program needs no file system to serve them.
enum PageFiles {
    struct File: Sendable {
        let bytes: [UInt8]
        let contentType: String
        /// Of what it holds, in quotes as the header has it.
        let tag: String
    }

    /// What stands at `/`.
    static let document = "index.html"

    static func file(_ name: String) -> File? { self.files[name] }

    /// Kept, since each use of one of SwiftPM's constants makes it anew.
    private static let files: [String: File] = Self.contents.reduce(into: [:]) { files, entry in
        let digest = SHA256.hash(data: entry.value)
        files[entry.key] = File(
            bytes: entry.value,
            contentType: Self.contentType(entry.key),
            tag: "\"\(Hex.encode(digest.prefix(16)))\""
        )
    }

    private static func contentType(_ name: String) -> String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        // Browsers refuse modules of any other type.
        case "js": "text/javascript; charset=utf-8"
        case "svg": "image/svg+xml"
        default: "application/octet-stream"
        }
    }

    /// All files of the folder `Page`; a test compares.
    static let contents: [String: [UInt8]] = [
        "activity.js": PackageResources.activity_js,
        "api.js": PackageResources.api_js,
        "app.js": PackageResources.app_js,
        "apps.js": PackageResources.apps_js,
        "budget.js": PackageResources.budget_js,
        "chart.js": PackageResources.chart_js,
        "colours.css": PackageResources.colours_css,
        "credentials.js": PackageResources.credentials_js,
        "dead.js": PackageResources.dead_js,
        "dialog.js": PackageResources.dialog_js,
        "dom.js": PackageResources.dom_js,
        "find.js": PackageResources.find_js,
        "format.js": PackageResources.format_js,
        "icon.svg": PackageResources.icon_svg,
        "index.html": PackageResources.index_html,
        "keyboard.js": PackageResources.keyboard_js,
        "layout.css": PackageResources.layout_css,
        "letter.js": PackageResources.letter_js,
        "live.js": PackageResources.live_js,
        "login.js": PackageResources.login_js,
        "main.js": PackageResources.main_js,
        "overview.js": PackageResources.overview_js,
        "pages.js": PackageResources.pages_js,
        "parts.css": PackageResources.parts_css,
        "pausing.js": PackageResources.pausing_js,
        "reasons.js": PackageResources.reasons_js,
        "replay.js": PackageResources.replay_js,
        "retries.js": PackageResources.retries_js,
        "table.js": PackageResources.table_js,
        "theme.js": PackageResources.theme_js,
    ]
}
