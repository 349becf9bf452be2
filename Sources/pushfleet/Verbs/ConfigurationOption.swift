internal import ArgumentParser

/// `--config`, for every verb that reads the configuration.
struct ConfigurationOption: ParsableArguments {
    @Option(
        name: .customLong("config"),
        help: ArgumentHelp(
            "The configuration file. Else PUSHFLEET_CONFIG, else \(ConfigurationLoader.standardPath).",
            valueName: "file"
        )
    )
    var file: String?

    /// Reads the configuration, tells its warnings, and throws all its errors.
    func require(_ needs: ConfigurationLoader.Needs) throws -> LoadedConfiguration {
        let loaded = try ConfigurationLoader().require(option: self.file, needs: needs)
        for warning in loaded.warnings { Terminal.say(warning.description) }
        return loaded
    }
}

/// `--json`, for every verb that shows something.
struct JSONFlag: ParsableArguments {
    @Flag(name: .customLong("json"), help: "Print one JSON object for programs instead of text.")
    var isOn = false
}

extension Duration {
    /// An option's value; the error becomes part of the usage message.
    static func argument(_ text: String) throws -> Duration {
        do throws(ValueFault) {
            return try DurationText.parse(text)
        } catch {
            throw ValidationError("'\(text)' \(error.phrase)")
        }
    }
}
