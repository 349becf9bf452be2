internal import Push

/// What `POST /ledger/compare` asks for: a producer's list of `apns_ids` or of `tokens`.
enum ComparisonOrder: Equatable {
    case ids([MessageID])
    case tokens([[UInt8]])

    init(json: ControlValue) throws(BadField) {
        var fields = try Fields(json)
        let ids = try fields.strings("apns_ids")
        let tokens = try fields.strings("tokens")
        try fields.end()
        switch (ids, tokens) {
        case (let ids?, nil):
            var known: [MessageID] = []
            for text in ids {
                guard let id = MessageID(Array(text.utf8)) else {
                    throw BadField(field: "apns_ids", problem: "must be UUIDs, which \(text.prefix(40)) is not")
                }
                known.append(id)
            }
            self = .ids(known)
        case (nil, let tokens?):
            var known: [[UInt8]] = []
            for text in tokens {
                guard let token = Hex.decode(Array(text.utf8)), !token.isEmpty else {
                    throw BadField(field: "tokens", problem: "must be even numbers of hexadecimal digits")
                }
                known.append(token)
            }
            self = .tokens(known)
        default: throw BadField(field: "body", problem: "must have apns_ids or tokens")
        }
    }

    func compare(with ledger: Ledger) -> LedgerComparison {
        switch self {
        case .ids(let ids): ledger.compare(ids: ids)
        case .tokens(let tokens): ledger.compare(tokens: tokens)
        }
    }
}
