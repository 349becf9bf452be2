/// Decides who asks for a name and who waits for another's answer, so that a resolver that hangs costs a few threads
/// and not one for every attempt to connect.
struct LookupDesk<Asker> {
    /// A lookup is fresh each time, until so many are under way for one name: those hang, and one more would too.
    static var limit: Int { 4 }

    private var running: [Endpoint: Int] = [:]
    private var waiting: [Endpoint: [Asker]] = [:]

    /// - Returns: whether to start a lookup; else the asker gets the answer of one that is under way.
    mutating func ask(_ endpoint: Endpoint, _ asker: Asker) -> Bool {
        guard self.running[endpoint, default: 0] < Self.limit else {
            self.waiting[endpoint, default: []].append(asker)
            return false
        }
        self.running[endpoint, default: 0] += 1
        return true
    }

    /// A lookup has its answer.
    /// - Returns: who else gets it.
    mutating func ended(_ endpoint: Endpoint) -> [Asker] {
        let left = self.running[endpoint, default: 1] - 1
        self.running[endpoint] = left > 0 ? left : nil
        return self.waiting.removeValue(forKey: endpoint) ?? []
    }

    /// Lookups under way for a name.
    func count(_ endpoint: Endpoint) -> Int { self.running[endpoint] ?? 0 }
}
