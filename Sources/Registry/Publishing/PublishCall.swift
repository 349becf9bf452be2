internal import Store

/// What tells one call of a client from another: all attempts of one call have the same.
package struct PublishCall: Hashable, Sendable {
    package var accessKey: String
    /// The header `amz-sdk-invocation-id`.
    package var invocation: String
    /// SHA-256 of the body, as hexadecimal digits.
    package var bodyHash: String

    package init(accessKey: String, invocation: String, bodyHash: String) {
        self.accessKey = accessKey
        self.invocation = invocation
        self.bodyHash = bodyHash
    }
}

/// Whether a call is the first of its kind.
package enum PublishClaim: Hashable, Sendable {
    /// It is; the message id given is its own.
    case first
    /// An attempt before has this message id and was not finished: whoever goes on uses that id, so that nobody gets the
    /// message twice.
    case pending(String)
    /// An attempt before was answered with this message id.
    case done(String)
}

enum PublishScripts {
    /// Once, for 15 minutes. KEYS: the call. ARGV: message id, milliseconds.
    static let claim = Script(
        """
        local before = redis.call('GET', KEYS[1])
        if before then return before end
        redis.call('SET', KEYS[1], 'pending ' .. ARGV[1], 'PX', ARGV[2])
        return ''
        """
    )
}

extension Registry {
    /// Claims a call under a message id, unless an attempt before has claimed it.
    package func claim(
        _ call: PublishCall,
        messageID: String,
        _ completion: @escaping Completion<PublishClaim>
    ) {
        var script = ScriptCall(PublishScripts.claim, keys: [RegistryKeys.once(call)])
        script.add(messageID)
        script.add(milliseconds: RegistryKeys.onceLife)
        self.run(script, completion) { reply in
            guard let text = reply.text() else { return nil }
            guard !text.isEmpty else { return .first }
            guard let space = text.firstIndex(of: " ") else { return nil }
            let id = String(text[text.index(after: space)...])
            // A claim whose answer was lost is sent again with the same id.
            return text.hasPrefix("done ") ? .done(id) : id == messageID ? .first : .pending(id)
        }
    }

    /// The call was answered with this message id; more attempts get the same answer for 15 minutes from now.
    package func finish(_ call: PublishCall, messageID: String, _ completion: @escaping Completion<Void>) {
        var command = RedisCommand("SET", RegistryKeys.once(call), "done \(messageID)", "PX")
        command.add(RegistryKeys.onceLife.components.seconds * 1000)
        self.send(command, completion)
    }
}
