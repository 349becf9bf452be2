extension Duration {
    /// For the lines that tests print.
    var seconds: String {
        let milliseconds = self.components.seconds * 1000 + self.components.attoseconds / 1_000_000_000_000_000
        return "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s"
    }
}
