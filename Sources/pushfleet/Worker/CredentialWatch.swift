internal import Worker

/// Decides when the files of a credential have changed and are whole. Does no I/O.
///
/// Files are replaced while somebody looks, and a certificate and its key one after the other: what is found is taken
/// seriously when a second look finds the same.
struct CredentialWatch: Equatable {
    enum Reading: Equatable {
        case files(CredentialFiles)
        case fault(CredentialFault)
    }

    private var inUse: Reading
    /// What was told last, so that a bad file is told once.
    private var told: Reading
    private var last: Reading

    init(inUse files: CredentialFiles) {
        self.inUse = .files(files)
        self.told = self.inUse
        self.last = self.inUse
    }

    /// Takes what a look has found.
    /// - Returns: it, if something is to be done about it.
    mutating func looked(_ reading: Reading) -> Reading? {
        let isSettled = reading == self.last
        self.last = reading
        guard isSettled, reading != self.told else { return nil }
        self.told = reading
        // A mistake that was taken back.
        return reading == self.inUse ? nil : reading
    }

    /// These are used from now on.
    mutating func used(_ files: CredentialFiles) {
        self = CredentialWatch(inUse: files)
    }

    /// Whether these are used.
    func uses(_ files: CredentialFiles) -> Bool { self.inUse == .files(files) }
}
