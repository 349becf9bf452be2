internal import Push

extension GatewayService {
    /// The certificate of the key that signs messages, for everybody.
    func certificate(_ path: String) -> OutgoingAnswer {
        guard let text = self.outside.signer.certificate(at: path) else {
            return .text("there is no such certificate\n", status: 404)
        }
        var answer = OutgoingAnswer.text(text)
        answer.contentType = "application/x-pem-file"
        return answer
    }
}
