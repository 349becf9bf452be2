internal import Broker
internal import Store
internal import Wire

/// One key as it holds, for showing: secrets are masked already.
struct EffectiveValue: Equatable {
    /// Where a value comes from.
    enum Origin: Equatable, CustomStringConvertible {
        case file
        /// Redis, where the fleet's other apps are.
        case redis
        case environment(String)
        case standard
        /// Left out, and nothing holds instead.
        case unset

        var description: String {
            switch self {
            case .file: "file"
            case .redis: "redis"
            case .environment(let name): name
            case .standard: "default"
            case .unset: "not set"
            }
        }
    }

    let key: String
    /// Empty when not set.
    let value: String
    let origin: Origin

    /// An address without its password; anything else becomes asterisks.
    static func masked(_ secret: String) -> String {
        if let address = try? AMQPAddress(parsing: secret) { return address.description }
        if let address = try? RedisAddress(secret) { return address.description }
        if let proxy = try? Proxy(secret) { return proxy.description }
        return "***"
    }
}
