import SNS
import Testing

@Suite("Delivery policies")
struct DeliveryPolicyTests {
    @Test(
        "retries wait as the policy says",
        arguments: [
            ("{}", [20, 20, 20]), (#"{"healthyRetryPolicy":{"numRetries":0}}"#, []),
            (#"{"healthyRetryPolicy":null}"#, [20, 20, 20]),
            (
                #"{"healthyRetryPolicy":{"minDelayTarget":1,"maxDelayTarget":60,"numRetries":7,"numNoDelayRetries":1,"numMinDelayRetries":2,"numMaxDelayRetries":1,"backoffFunction":"linear"}}"#,
                [0, 1, 1, 1, 30, 60, 60]
            ),
            (
                #"{"healthyRetryPolicy":{"minDelayTarget":5,"maxDelayTarget":100,"numRetries":6,"backoffFunction":"exponential"}}"#,
                [5, 10, 20, 40, 80, 100]
            ),
            (
                #"{"healthyRetryPolicy":{"minDelayTarget":10,"maxDelayTarget":110,"numRetries":3,"backoffFunction":"geometric"}}"#,
                [10, 35, 110]
            ),
            (
                #"{"healthyRetryPolicy":{"minDelayTarget":10,"maxDelayTarget":130,"numRetries":4,"backoffFunction":"arithmetic"}}"#,
                [10, 30, 70, 130]
            ), (#"{"http":{"defaultHealthyRetryPolicy":{"minDelayTarget":30,"numRetries":1}}}"#, [30]),
        ]
    )
    func delays(text: String, delays: [Int]) throws {
        #expect(try DeliveryPolicy(parsing: text).delays == delays)
    }

    @Test(
        "a policy that makes no sense is refused",
        arguments: [
            "", "[]", #"{"healthyRetryPolicy":1}"#, #"{"healthyRetryPolicy":{"numRetries":101}}"#,
            #"{"healthyRetryPolicy":{"numRetries":1.5}}"#, #"{"healthyRetryPolicy":{"minDelayTarget":0}}"#,
            #"{"healthyRetryPolicy":{"minDelayTarget":30,"maxDelayTarget":20}}"#,
            #"{"healthyRetryPolicy":{"numRetries":1,"numNoDelayRetries":2}}"#,
            #"{"healthyRetryPolicy":{"backoffFunction":"slow"}}"#,
            #"{"requestPolicy":{"headerContentType":"x\r\ny/z"}}"#,
            #"{"requestPolicy":[]}"#,
        ]
    )
    func refused(text: String) {
        #expect(throws: DeliveryPolicyFault.self) { try DeliveryPolicy(parsing: text) }
    }

    @Test("the type of what is posted may be chosen")
    func contentType() throws {
        let text = #"{"requestPolicy":{"headerContentType":"application/json; charset=UTF-8"}}"#
        #expect(try DeliveryPolicy(parsing: text).contentType == "application/json; charset=UTF-8")
        #expect(DeliveryPolicy.standard.contentType == nil)
    }

    @Test(
        "a redrive policy names a queue, but none of the fleet's own",
        arguments: [
            (#"{"deadLetterTargetArn":"arn:aws:sqs:eu-west-1:123456789012:dead"}"#, nil),
            ("{", "failed to parse JSON."), ("{}", "deadLetterTargetArn is an invalid arn"),
            (#"{"deadLetterTargetArn":"arn:aws:sns:eu-west-1:1:dead"}"#, "deadLetterTargetArn is an invalid arn"),
            (
                #"{"deadLetterTargetArn":"arn:aws:sqs:eu-west-1:1:pushfleet.sns.apns.Shop.now"}"#,
                "deadLetterTargetArn is an invalid arn"
            ),
            (#"{"deadLetterTargetArn":"arn:aws:sqs:eu-west-1:1:amq.direct"}"#, "deadLetterTargetArn is an invalid arn"),
        ] as [(String, String?)]
    )
    func redrive(text: String, problem: String?) {
        do throws(RedrivePolicyFault) {
            #expect(try RedrivePolicy(parsing: text).deadLetterTarget.hasSuffix(":dead") && problem == nil)
        } catch {
            #expect(error.problem == problem)
        }
    }
}
