/// Open connections by their place, which is used again when they are closed.
struct ConnectionTable: Sendable {
    private var connections: [Connection?] = []
    private var freePlaces: [Int] = []
    /// What the next connection is called: from 1, in the order of opening.
    private(set) var nextNumber = 1

    /// All places there have been.
    var places: Range<Int> { self.connections.indices }

    /// All that are open, in the order of their places.
    var open: some Sequence<Connection> { self.connections.lazy.compactMap { $0 } }

    /// The connection at a place that was given out; nil when it is closed.
    subscript(_ place: Int) -> Connection? {
        get { self.connections[place] }
        _modify { yield &self.connections[place] }
    }

    /// Takes in a connection that has the next number.
    /// - Returns: its place.
    mutating func add(_ connection: Connection) -> Int {
        self.nextNumber += 1
        if let place = self.freePlaces.popLast() {
            self.connections[place] = connection
            return place
        }
        self.connections.append(connection)
        return self.connections.count - 1
    }

    /// Gives back what was there; its place is free.
    mutating func remove(_ place: Int) -> Connection? {
        guard let connection = self.connections[place] else { return nil }
        self.connections[place] = nil
        self.freePlaces.append(place)
        return connection
    }
}
