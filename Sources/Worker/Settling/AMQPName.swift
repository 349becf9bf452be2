/// Names in AMQP have at most 255 bytes. One that was no text has grown when it was made text.
enum AMQPName {
    static func fits(_ name: String) -> Bool { name.utf8.count <= 255 }

    /// The name, cut after whole characters.
    static func fit(_ name: String) -> String {
        guard !Self.fits(name) else { return name }
        var cut = String.UnicodeScalarView()
        var count = 0
        for scalar in name.unicodeScalars {
            count += UTF8.width(scalar)
            guard count <= 255 else { break }
            cut.append(scalar)
        }
        return String(cut)
    }
}
