import Foundation
import TestServers
import Testing

@testable import Dashboard

@Suite struct PageFilesTests {
    @Test func `every file of the page is in the program, as it stands in the folder`() throws {
        let folder = URL(filePath: Repository.root).appending(path: "Sources/Dashboard/Page")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(Set(names) == Set(PageFiles.contents.keys))
        for name in names {
            let bytes = try [UInt8](Data(contentsOf: folder.appending(path: name)))
            #expect(PageFiles.file(name)?.bytes == bytes, "\(name)")
        }
    }
}
