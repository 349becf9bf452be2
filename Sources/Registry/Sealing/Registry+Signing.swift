internal import Store

/// What gateways sign with, sealed: the first that is offered is for all.
extension Registry {
    /// What the key is sealed for; no app has such a name.
    package static let signingKeyOwner = "gateway signing key"

    private static let signing = RegistryScript.make(
        #"""
        local offer = optional()
        if offer then redis.call('SET', P .. 'signing', offer, 'NX') end
        return { redis.call('GET', P .. 'signing') or '' }
        """#
    )

    /// The key that is there.
    /// - Parameter offer: becomes that key if there is none yet.
    package func signingKey(
        offering offer: SealedCredential? = nil,
        _ completion: @escaping Completion<SealedCredential?>
    ) {
        var call = RegistryScript.call(Self.signing)
        call.add(optional: offer?.text)
        self.run(call, completion) { reply in
            reply.text().map { $0.isEmpty ? nil : SealedCredential(text: $0) }
        }
    }
}
