/// Hears what becomes of a client connection and its requests, always on its loop.
///
/// Every call may submit, cancel, drain or close.
package protocol HTTP2ClientDelegate: AnyObject {
    /// Connected, and the peer's first SETTINGS arrived: requests may be sent.
    func http2DidBecomeReady(_ client: HTTP2Client)
    /// The peer allows this many streams from now on; may be 0, may be fewer than are open.
    func http2(_ client: HTTP2Client, didChangeStreamLimit limit: Int)
    /// A request's response is complete. Its bytes are valid only during the call.
    func http2(_ client: HTTP2Client, context: UInt64, didReceive response: HTTP2Response)
    /// A request will not get a response.
    func http2(_ client: HTTP2Client, context: UInt64, didFail failure: StreamFailure)
    /// The peer takes no new requests. Those above its last stream fail right after this call; the others still wait
    /// for their answers, for at most `HTTP2Client.Settings.drainTimeout`.
    func http2(_ client: HTTP2Client, didReceive goAway: GoAway)
    /// Streams were closed or the limit was raised: called at most once a turn, before the turn's bytes leave, so that
    /// what is submitted now leaves with them.
    func http2HasFreeStreams(_ client: HTTP2Client)
    /// It is over; called once, after every request had its outcome, also after `close`. Nothing is called later.
    func http2(_ client: HTTP2Client, didClose reason: CloseReason)
}
