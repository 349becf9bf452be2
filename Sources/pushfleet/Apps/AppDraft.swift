internal import ArgumentParser
internal import Foundation
internal import Push

/// An app that an operator hands over: read, judged, and as it will stand in Redis.
struct AppDraft {
    let judged: JudgedApp
    /// One JSON object on one line, keys sorted, so that the same settings are the same text.
    let json: String

    /// - Parameter file: holds the app and nothing else.
    init(_ file: ConfigurationFile, _ app: String, _ check: AppCheck) throws {
        self.judged = check.judge(file, app)
        var root: [String: Any] = [:]
        for entry in file.entries {
            let path = Array(entry.path.dropFirst(2))
            let value = Self.value(entry)
            if path.count == 1 {
                root[path[0]] = value
            } else {
                // No key of an app lies deeper than that.
                var section = root[path[0]] as? [String: Any] ?? [:]
                section[path[1]] = value
                root[path[0]] = section
            }
        }
        let data = try JSONSerialization.data(withJSONObject: root, options: [.sortedKeys, .withoutEscapingSlashes])
        self.json = String(decoding: data, as: UTF8.self)
    }

    /// Numbers stay numbers; durations and words are text.
    private static func value(_ entry: ConfigurationFile.Entry) -> Any {
        guard case .integer? = SettingsTable.key(at: entry.path)?.kind, let number = Int(entry.value) else {
            return entry.value
        }
        return number
    }

    /// Reads `key=value` arguments.
    static func file(_ app: String, pairs: [String]) throws -> ConfigurationFile {
        let parts = try pairs.map { pair in
            guard let equals = pair.firstIndex(of: "=") else {
                throw ValidationError("'\(pair)' is not key=value, such as credential=main or retry.age_limit=1h")
            }
            return (key: String(pair[..<equals]), value: String(pair[pair.index(after: equals)...]))
        }
        return ConfigurationFile(app: app, pairs: parts, name: "app put")
    }

    /// Reads a file, or standard input for `-`.
    static func file(_ app: String, reading file: String) throws -> ConfigurationFile {
        let name = file == "-" ? "standard input" : file
        do throws(ValueFault) {
            let text = file == "-" ? try Self.standardInput() : try ConfigurationLoader.read(file)
            return ConfigurationFile(app: app, text: text, name: name, origin: .file)
        } catch {
            throw VerbFailure("\(name) \(error.phrase)")
        }
    }

    private static func standardInput() throws(ValueFault) -> String {
        let data = (try? FileHandle.standardInput.readToEnd()) ?? Data()
        guard let text = String(validating: data, as: UTF8.self) else {
            throw ValueFault(phrase: "cannot be read: it is not UTF-8 text")
        }
        return text
    }
}
