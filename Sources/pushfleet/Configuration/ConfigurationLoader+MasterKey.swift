internal import Registry

extension ConfigurationLoader {
    /// The master keys: given, or in a file. Nil if there are none, or they are of no use.
    static func masterKeys(
        _ values: SettingValues,
        needs: Needs,
        problems: inout [ConfigurationProblem]
    ) -> SealingKeys? {
        let key = values.text("redis", "master_key")
        let file = values.text("redis", "master_key_file")
        guard key != nil || file != nil, needs.contains(.servers) || needs.contains(.keys) else { return nil }
        let path = ["redis", file == nil ? "master_key" : "master_key_file"]
        func refuse(_ text: String) -> SealingKeys? {
            problems.append(values.problem(at: path, text, .error))
            return nil
        }
        if key != nil, file != nil { return refuse("stands beside redis.master_key; keep one of them") }
        do throws(ValueFault) {
            let text = try file.map { file throws(ValueFault) in try Self.read(file) } ?? key ?? ""
            do throws(SealingKeyFault) {
                return try SealingKeys(text)
            } catch {
                return refuse(file.map { "\($0) cannot be used: \(error.problem)" } ?? error.problem)
            }
        } catch {
            return refuse("\(file ?? "") \(error.phrase)")
        }
    }
}
