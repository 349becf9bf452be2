internal import Desk
internal import Push
internal import Store

extension WorkerReport {
    /// - Parameter part: of the id or the host, in lower case.
    static func all(_ status: FleetStatus, part: String?) -> [WorkerReport] {
        status.workers.filter { worker in
            guard let part else { return true }
            return worker.id.lowercased().contains(part) || worker.host.lowercased().contains(part)
        }.map { WorkerReport($0, status) }
    }
}

extension BudgetReport {
    /// Those that are short of connections first.
    static func all(_ picture: FleetPicture, _ status: FleetStatus) -> [BudgetReport] {
        status.pools.map { pool in
            let credential = picture.configured.credentials.first { $0.pool == pool.name }
            return BudgetReport(
                pool,
                credential: credential?.name,
                configured: credential?.maxConnections,
                workers: status.workers
            )
        }.sorted { ($0.wanted - $0.held, $1.pool) > ($1.wanted - $1.held, $0.pool) }
    }
}

/// What one worker may hold of one budget.
struct LeaseReport: Encodable, Equatable {
    let pool: String
    let worker: String
    let grant: Int
    let open: Int
    let want: Int
    let expiresAtMs: Int64

    static func all(_ status: FleetStatus, pool: String?, worker: String?) -> [LeaseReport] {
        status.pools.filter { pool == nil || $0.name == pool }.flatMap { found in
            found.leases.filter { worker == nil || $0.worker == worker }.map { lease in
                LeaseReport(
                    pool: found.name,
                    worker: lease.worker,
                    grant: lease.grant,
                    open: lease.open,
                    want: lease.want,
                    expiresAtMs: lease.expires.milliseconds
                )
            }
        }
    }
}
