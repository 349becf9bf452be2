import FuzzCases
import Loop

// libFuzzer's driver, with its command line: it calls `testOneInput` with inputs that reach new code, for as long as it
// is told. `scripts/fuzz` builds and runs this.

typealias OneInput = @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt

/// In the sanitizer runtime that `-sanitize=fuzzer` links; it has no header for Swift.
@_silgen_name("LLVMFuzzerRunDriver")
func runDriver(
    _ argumentCount: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ testOneInput: OneInput
) -> CInt

/// libFuzzer's own mutator, which knows nothing of frames.
@_silgen_name("LLVMFuzzerMutate")
func mutateBytes(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int, _ limit: Int) -> Int

/// The input that was mutated last lends frames to the next.
nonisolated(unsafe) var previous: [UInt8] = []

/// libFuzzer finds it by its name.
@_cdecl("LLVMFuzzerCustomMutator")
public func mutateInput(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int, _ limit: Int, _ seed: UInt32) -> Int {
    guard seed % 3 != 0 else { return mutateBytes(bytes, count, limit) }
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    var mutator = FrameMutator(seed: UInt64(seed))
    let output = mutator.mutate(input, with: previous, limit: limit)
    previous = input
    for index in output.indices { bytes[index] = output[index] }
    return output.count
}

nonisolated(unsafe) let loop = try EventLoop()

var count = CommandLine.argc
var arguments = CommandLine.unsafeArgv
let status = runDriver(&count, &arguments) { start, count in
    guard count > 2 else { return 0 }
    let result = FuzzCase(UnsafeRawBufferPointer(start: start, count: count), on: loop)
    // libFuzzer keeps the input of a process that dies.
    guard result.faults.isEmpty else { fatalError(result.faults.joined(separator: "; ")) }
    // One turn, in which what the case left to it ends.
    loop.after(.zero) { loop.stop() }
    loop.run()
    return 0
}
guard status == 0 else { fatalError("libFuzzer ends with status \(status)") }
