internal import Worker

/// Which changed keys hold only after a restart: those that neither belong to an app, nor to a credential that comes or
/// goes, nor say which key or certificate a credential is.
enum RestartKeys {
    /// What is followed at once, or concerns no worker.
    private static let ignored = ["apps.", "redis.master_key", "gateway.", "access_keys."]

    private static let swappable = [
        "team_id", "key_id", "key_file", "certificate_file", "private_key_file", "pkcs12_file", "passphrase",
        "passphrase_file",
    ]

    /// - Parameters:
    ///   - before: all keys as the worker runs with them.
    ///   - after: all keys as they stand now.
    /// - Returns: in alphabetical order.
    static func changed(from before: [EffectiveValue], to after: [EffectiveValue]) -> [String] {
        let (old, new) = (Self.values(before), Self.values(after))
        let (oldNames, newNames) = (Self.credentials(old), Self.credentials(new))
        return Set(old.keys).union(new.keys).filter { key in
            guard old[key] != new[key], !Self.ignored.contains(where: { key.hasPrefix($0) }) else { return false }
            guard let (name, field) = Self.credential(key) else { return true }
            return oldNames.contains(name) && newNames.contains(name) && !Self.swappable.contains(field)
        }.sorted()
    }

    private static func values(_ values: [EffectiveValue]) -> [String: String] {
        Dictionary(values.map { ($0.key, $0.value) }, uniquingKeysWith: { $1 })
    }

    private static func credentials(_ values: [String: String]) -> Set<String> {
        Set(values.keys.compactMap { Self.credential($0)?.name })
    }

    /// A credential's name may have dots in it; the last word is the field.
    private static func credential(_ key: String) -> (name: String, field: String)? {
        let prefix = "credentials."
        guard key.hasPrefix(prefix), let dot = key.lastIndex(of: "."), dot > key.index(key.startIndex, offsetBy: 11)
        else { return nil }
        let start = key.index(key.startIndex, offsetBy: prefix.count)
        return (String(key[start..<dot]), String(key[key.index(after: dot)...]))
    }
}
