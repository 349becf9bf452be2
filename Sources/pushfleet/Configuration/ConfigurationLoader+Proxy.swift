internal import Foundation
internal import Wire

extension ConfigurationLoader {
    /// The proxy of a credential: given, or in a file.
    static func proxy(
        _ values: SettingValues,
        _ name: String,
        readsFiles: Bool,
        problems: inout [ConfigurationProblem]
    ) -> Proxy? {
        let filePath = ["credentials", name, "proxy_file"]
        let given = values.text("credentials", name, "proxy").flatMap { try? Proxy($0) }
        guard let file = values.text("credentials", name, "proxy_file") else { return given }
        guard values.origin(of: ["credentials", name, "proxy"]) == .unset else {
            let text = "stands beside credentials.\(name).proxy; keep one of them"
            problems.append(values.problem(at: filePath, text, .error))
            return nil
        }
        guard readsFiles else { return nil }
        do {
            return try Proxy(Self.read(file).trimmingCharacters(in: .whitespacesAndNewlines))
        } catch let error as ProxyError {
            problems.append(values.problem(at: filePath, "the address in \(file) is wrong: \(error)", .error))
        } catch {
            let phrase = (error as? ValueFault)?.phrase ?? "\(error)"
            problems.append(values.problem(at: filePath, "\(file) \(phrase)", .error))
        }
        return nil
    }
}
