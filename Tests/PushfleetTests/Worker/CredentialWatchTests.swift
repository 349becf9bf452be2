internal import Testing
internal import Worker

@testable import pushfleet

@Suite struct CredentialWatchTests {
    private let old = CredentialFiles(["k": [1]])
    private let new = CredentialFiles(["k": [2]])

    @Test("a change is taken when a second look finds the same, and told once")
    func settles() {
        var watch = CredentialWatch(inUse: self.old)
        #expect(watch.looked(.files(self.old)) == nil)
        #expect(watch.looked(.files(self.new)) == nil)
        #expect(watch.looked(.files(self.new)) == .files(self.new))
        #expect(watch.looked(.files(self.new)) == nil)
    }

    @Test("files that change at every look are not whole yet")
    func changing() {
        var watch = CredentialWatch(inUse: self.old)
        for byte in 2..<20 as Range<UInt8> { #expect(watch.looked(.files(CredentialFiles(["k": [byte]]))) == nil) }
    }

    @Test("a mistake that is taken back is no change")
    func takenBack() {
        var watch = CredentialWatch(inUse: self.old)
        _ = watch.looked(.files(self.new))
        #expect(watch.looked(.files(self.new)) != nil)
        #expect(watch.looked(.files(self.old)) == nil)
        #expect(watch.looked(.files(self.old)) == nil)
        _ = watch.looked(.files(self.new))
        #expect(watch.looked(.files(self.new)) == .files(self.new), "and the same mistake again is told again")
    }

    @Test("what is used is what changes are measured by")
    func used() {
        var watch = CredentialWatch(inUse: self.old)
        watch.used(self.new)
        #expect(watch.uses(self.new))
        for _ in 0..<2 { #expect(watch.looked(.files(self.new)) == nil) }
        _ = watch.looked(.files(self.old))
        #expect(watch.looked(.files(self.old)) == .files(self.old))
    }
}
