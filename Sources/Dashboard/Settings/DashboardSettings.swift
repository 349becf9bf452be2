package import WebServer

/// Everything the operator decides about one dashboard, as plain values.
package struct DashboardSettings: Sendable {
    /// The address to listen on; default this machine only.
    package var host = "127.0.0.1"
    /// The port; 0 takes a free one.
    package var port: UInt16 = 8090
    /// Serves HTTPS with this certificate; nil for plain HTTP, behind a proxy or on this machine.
    package var tls: WebServer.TLSFiles?
    /// A name for the title, to tell two fleets apart.
    package var fleet: String?
    /// Who may log in by token.
    package var tokens = TokenBook()
    /// Whom a reverse proxy has let in; nil to ask for a token always.
    package var proxy: ProxyLogin?
    /// How long a client may take to send a request; default 60 s.
    package var requestTimeout: Duration = .seconds(60)
    /// How long a stopping dashboard waits for requests that are under way; default 10 s.
    package var drainTimeout: Duration = .seconds(10)
    /// Connections of viewers that are open at a time; more wait to be accepted.
    package var connectionLimit = 1024

    package init() {}

    var listening: ListeningServer.Settings {
        ListeningServer.Settings(
            host: self.host,
            port: self.port,
            tls: self.tls,
            patience: self.requestTimeout,
            connectionLimit: self.connectionLimit,
            drainTimeout: self.drainTimeout
        )
    }
}

/// How a reverse proxy tells who somebody is.
package struct ProxyLogin: Sendable, Equatable {
    /// The header with the user's name, in lower case.
    package var header: String
    /// From where alone it is believed.
    package var addresses: AddressBlocks
    /// Who may act; others may look.
    package var actors: Set<String>
    /// Whether everybody may act.
    package var allMayAct: Bool

    package init(header: String, addresses: AddressBlocks, actors: Set<String> = [], allMayAct: Bool = false) {
        self.header = header.lowercased()
        self.addresses = addresses
        self.actors = actors
        self.allMayAct = allMayAct
    }

    func mayAct(_ user: String) -> Bool { self.allMayAct || self.actors.contains(user) }
}
