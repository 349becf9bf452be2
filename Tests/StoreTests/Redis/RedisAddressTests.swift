import Testing
import Wire

@testable import Store

@Suite struct RedisAddressTests {
    @Test(arguments: [
        ("redis://localhost", "redis://localhost:6379/0", nil, nil),
        ("redis://localhost:6380/", "redis://localhost:6380/0", nil, nil),
        ("rediss://redis.example:6380/3", "rediss://redis.example:6380/3", nil, nil),
        ("redis://:secret@h/1", "redis://h:6379/1", nil, "secret"),
        ("redis://worker:s%40c%2Fr%25t@h:1/15", "redis://worker@h:1/15", "worker", "s@c/r%t"),
        ("redis://worker:a@b:c@h", "redis://worker@h:6379/0", "worker", "a@b:c"),
        ("redis://[::1]:7000/2", "redis://[::1]:7000/2", nil, nil),
        ("redis://[::1]", "redis://[::1]:6379/0", nil, nil),
    ])
    func `An address is read, and shown without its password`(
        text: String,
        shown: String,
        user: String?,
        password: String?
    ) throws {
        let address = try RedisAddress(text)
        #expect("\(address)" == shown)
        #expect(address.user == user)
        #expect(address.password == password)
    }

    @Test(arguments: [
        ("localhost:6379", RedisAddressError.Part.scheme),
        ("http://localhost", .scheme),
        ("redis://", .host),
        ("redis://:6379", .host),
        ("redis://a b", .host),
        ("redis://[::1", .host),
        ("redis://[::1]x", .host),
        ("redis://h?db=1", .host),
        ("redis://h:0", .port),
        ("redis://h:65536", .port),
        ("redis://h:port", .port),
        ("redis://h/one", .database),
        ("redis://h/-1", .database),
        ("redis://user@h", .password),
        ("redis://user:@h", .password),
        ("redis://user:sec%zzret@h", .password),
        ("redis://us%2:secret@h", .user),
    ])
    func `A wrong address names the part, and never the password`(text: String, part: RedisAddressError.Part) {
        let error = #expect(throws: RedisAddressError.self) { try RedisAddress(text) }
        #expect(error?.part == part)
        #expect(error?.description.contains("sec") == false)
    }
}
