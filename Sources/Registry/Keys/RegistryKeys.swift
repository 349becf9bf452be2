internal import Crypto
internal import Push

/// Every key of the registry in Redis. This file is the key schema, and the one place where keys are made.
///
/// All keys but those of publishes share the hash tag `{apps}` with the apps of the fleet, so that one script can change
/// a platform application, its app, its credential, endpoints and subscriptions together. A Redis Cluster accepts every
/// script, and keeps the whole registry on one of its nodes: spreading it would cost the scripts their atomicity. A call
/// declares one key; those that depend on what the script reads are made inside of it, in the same slot.
///
/// Nothing here has a time to live, but for publishes and what was unsubscribed: it is what users registered.
///
/// Attributes of a subscription whose name begins with a dot are the registry's: `.token`, `.pending` until it is confirmed,
/// `.authenticated` and `.authenticates` (`1`), `.principal`.
///
/// | key, after `pf:sns:{apps}:` | type | what | bound |
/// |---|---|---|---|
/// | `serial` | string | last number given to an application or topic | |
/// | `numbers` | hash | number: `a<platform>/<name>` or `t<topic>`; what short keys and members mean. Those of topics go when swept, those of applications stay, for subscriptions that name them | applications and topics ever made |
/// | `apps` | sorted set by name | `<platform>/<name>` | |
/// | `app:<platform>/<name>` | hash | `n` number, `created` ms, `endpoints` how many, `fleet` the app of the fleet that sends for it, `@<attribute>` | |
/// | `e:<n>:<hhhh>` | hash | endpoints of application n whose id begins with these 16 bits, see below | 15 at 1 million, 128 at 8 million endpoints, so that it stays a listpack |
/// | `eb:<n>` | sorted set by name | the `hhhh` for which `e:<n>:` exists | 65,536 |
/// | `u:<hhhh>` | sorted set by name | `<12 digits of the hash of the user data><n>:<id>` | |
/// | `disabled` | sorted set | `<n>:<id>` by ms since when it is disabled | |
/// | `r:<n>:<hhhh>` | sorted set by name | subscriptions of endpoints: `<endpoint id><topic n>:<subscription id>` | |
/// | `topics` | sorted set by name | topic names | |
/// | `topic:<name>` | hash | `n` number, `created` ms, `pending` subscriptions that are, `@<attribute>`, `#<tag>` | 50 tags |
/// | `s:<n>` | sorted set by name | subscriptions of topic n: `<id>a<application n>:<endpoint id>`, or for other protocols `<id>x<protocol> <endpoint>` | |
/// | `f:<n>` | hash | subscription id: its attributes in MessagePack, if it has any | |
/// | `pending` | sorted set | `<topic n>:<subscription id>` that waits for its confirmation, by ms until when | |
/// | `restore:<topic n>:<subscription id>` | string | an http subscription that was ended, member and attributes in MessagePack, until its token is worth nothing | 3 days |
/// | `secret` | string | what ids of http subscriptions derive from, so that nobody can guess them | |
/// | `signing` | string | the gateways' signing key and its certificate, sealed | |
/// | `dangling` | sorted set | `<n>:<endpoint id>` that went and had subscriptions, by ms | |
/// | `dead` | sorted set | `a<n>` and `t<n>` that were deleted and are still to be swept, by ms | |
///
/// Ids are 16 bytes. `hhhh` are four hexadecimal digits; lists by name are sorted sets with score 0. Fields of `e:`:
///
/// | field | value |
/// |---|---|
/// | `<id>` | flags (1 byte: 1 enabled, 2 the token is packed hexadecimal, 4 another endpoint had the same token), ms since when it has the token (6 bytes), generation of the token (4 bytes), the token |
/// | `<id>u` | the user data, if there are any |
/// | `t<16 digits of the hash of a token>` | id of the endpoint that was given the token last, if that was not when it was made: bucket and digits are those of the hash. Endpoints that still have their first token are found by their id, which derives from it |
///
/// | key | type | what | lives |
/// |---|---|---|---|
/// | `pf:once:{<32 digits of a hash of access key, invocation and body hash>}` | string | `pending <message id>` or `done <message id>` | 15 min |
///
/// That hash is SHA-256, the others are SHA-1. Times are those of Redis.
enum RegistryKeys {
    static let prefix = "pf:sns:{apps}:"

    /// What every call declares.
    static let numbers = prefix + "numbers"

    static func once(_ call: PublishCall) -> String {
        // Hashed because a client may make its part as long as a header can be.
        let digest = SHA256.hash(data: Array("\(call.accessKey)\n\(call.invocation)\n\(call.bodyHash)".utf8))
        return "pf:once:{\(Hex.encode(digest.prefix(16)))}"
    }
    static let onceLife = Duration.seconds(900)

    /// How scripts make keys.
    static let lua = #"""
        local P = '\#(prefix)'
        local function bucketOf(id) return string.format('%02x%02x', string.byte(id, 1, 2)) end
        local function endpointsKey(n, id) return P .. 'e:' .. n .. ':' .. bucketOf(id) end
        local function bucketsKey(n) return P .. 'eb:' .. n end
        local function appKey(app) return P .. 'app:' .. app end
        local function topicKey(topic) return P .. 'topic:' .. topic end
        local function reverseKey(n, id) return P .. 'r:' .. n .. ':' .. bucketOf(id) end
        local function subscriptionsKey(n) return P .. 's:' .. n end
        local function attributesKey(n) return P .. 'f:' .. n end
        local function tokenKey(n, token)
            local h = redis.sha1hex(token)
            return P .. 'e:' .. n .. ':' .. string.sub(h, 1, 4), 't' .. string.sub(h, 5, 20), string.sub(h, 1, 4)
        end
        local function userKey(user)
            local h = redis.sha1hex(user)
            return P .. 'u:' .. string.sub(h, 1, 4), string.sub(h, 5, 16)
        end

        """#
}
