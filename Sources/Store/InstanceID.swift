/// Names one run of one worker: 128 random bits made when the process starts.
///
/// Never a pod's or host's name: two processes under one name would share a grant that is meant for one of them.
package struct InstanceID: Hashable, Sendable, CustomStringConvertible {
    /// 32 lower-case hexadecimal digits.
    package let description: String

    package init() {
        var random = SystemRandomNumberGenerator()
        self.init(using: &random)
    }

    package init(using random: inout some RandomNumberGenerator) {
        let digits = Array("0123456789abcdef".utf8)
        let text = (0..<32).map { _ in digits[Int.random(in: 0..<16, using: &random)] }
        self.description = String(decoding: text, as: UTF8.self)
    }
}
