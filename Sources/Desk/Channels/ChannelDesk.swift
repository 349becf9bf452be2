package import APNs
internal import Loop
package import Wire

/// Channel management for code that is not on a loop.
package enum ChannelDesk {
    /// Carries out one order on a connection of its own.
    /// - Parameters:
    ///   - tls: made with ALPN `h2`, and with the client certificate if that is the credential.
    ///   - token: nil with a client certificate.
    ///   - timeout: for connecting, and again for the answer.
    package static func carryOut(
        _ order: ChannelOrder,
        bundleID: String,
        at endpoint: Endpoint,
        tls: TLSContext,
        token: ProviderToken?,
        timeout: Duration,
        bench: Bench
    ) async -> Result<ChannelAnswer, ChannelFailure> {
        await bench.ask { loop, answer in
            ChannelClient(
                order,
                bundleID: bundleID,
                at: endpoint,
                tls: tls,
                token: token,
                timeout: timeout,
                on: loop,
                completion: answer
            )
        }
    }
}
