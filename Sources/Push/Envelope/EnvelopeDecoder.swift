/// Turns a body into a job, or says why not.
package enum EnvelopeDecoder {
    /// Checks a body against contract version 1.
    ///
    /// The whole text is checked, payload included. Faults are reported in this order, whatever their place in the
    /// text: too large, not UTF-8 or not JSON, an unknown version, then the first field at fault, then a field that
    /// is missing, then a priority that the push type forbids, then a payload over its limit. Whether the app exists is for the caller to say.
    ///
    /// - Parameter fit: what becomes of a payload over its limit; the setting of the app that the body is known to be
    ///   for.
    package static func decode(body: [UInt8], fit: PayloadFit = .reject) throws(Refusal) -> Job {
        guard body.count <= Contract.bodyLimit else {
            throw Refusal(
                .tooLarge,
                "The body has \(body.count) bytes; the limit is \(Contract.bodyLimit). Send fewer tokens."
            )
        }
        guard !body.isEmpty else { throw Refusal(.invalidJSON, "The body is empty; publish one JSON object.") }
        let parts = try body.withUnsafeBufferPointer { (bytes) throws(Refusal) -> Job.Parts in
            var reader = EnvelopeReader(UnsafeRawBufferPointer(bytes), fit: fit)
            return try reader.read()
        }
        return Job(body: body, parts)
    }
}
