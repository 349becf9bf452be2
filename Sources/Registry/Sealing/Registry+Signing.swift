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
    package func signingKey(_ completion: @escaping Completion<SealedCredential?>) {
        self.runSigning(nil, completion)
    }

    /// The key that is there, which this one becomes if there is none yet.
    package func offerSigningKey(
        _ offer: SealedCredential,
        _ completion: @escaping Completion<SealedCredential?>
    ) {
        self.runSigning(offer, completion)
    }

    private func runSigning(_ offer: SealedCredential?, _ completion: @escaping Completion<SealedCredential?>) {
        var call = RegistryScript.call(Self.signing)
        call.add(optional: offer?.text)
        self.run(call, completion) { reply in
            guard let text = reply.text() else { return nil }
            return .some(text.isEmpty ? nil : SealedCredential(text: text))
        }
    }
}
