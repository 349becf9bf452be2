internal import NIOCore
internal import NIOHTTPTypes

/// Ends connections of clients that take too long: to send a request's head after the last answer, or its body after
/// the head. A client that sends a byte now and then gains nothing by it.
///
/// `@unchecked Sendable` holds because NIO calls a handler on its channel's event loop only, and so do its timers.
final class RequestPatience: ChannelDuplexHandler, RemovableChannelHandler, @unchecked Sendable {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let limit: TimeAmount
    private var since = NIODeadline.now()
    private var unanswered = 0
    private var isReading = false
    private var timer: Scheduled<Void>?

    init(limit: TimeAmount) {
        self.limit = limit
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.since = .now()
        self.look(again: self.limit, context.channel)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.timer?.cancel()
        self.timer = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.timer?.cancel()
        self.timer = nil
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.unwrapInboundIn(data) {
        case .head:
            self.isReading = true
            self.unanswered += 1
            self.since = .now()
        case .body: break
        case .end: self.isReading = false
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = self.unwrapOutboundIn(data) {
            self.unanswered -= 1
            self.since = .now()
        }
        context.write(data, promise: promise)
    }

    private func look(again delay: TimeAmount, _ channel: any Channel) {
        self.timer = channel.eventLoop.scheduleTask(in: delay) { [weak self] in
            guard let self else { return }
            let rest = self.since + self.limit - .now()
            let waitsForUs = self.unanswered > 0 && !self.isReading
            if !waitsForUs, rest <= .zero { return channel.close(promise: nil) }
            self.look(again: waitsForUs ? self.limit : rest, channel)
        }
    }
}
