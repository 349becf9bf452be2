import Foundation
import Push
import TestServers
import Testing

@testable import Dashboard

@Suite struct RouteTests {
    @Test func `the routes are those of the contract, with its methods`() throws {
        let file = "\(Repository.root)/deploy/dashboard/openapi.yaml"
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        var path: String?
        var found: [String: Set<String>] = [:]
        for line in lines.prefix(while: { !$0.hasPrefix("components:") }) {
            if line.hasPrefix("  /api/"), line.hasSuffix(":") {
                path = String(line.dropFirst(2).dropLast())
            } else if let path, ["    get:", "    post:", "    delete:"].contains(line) {
                found[path, default: []].insert(line.trimmingCharacters(in: .whitespaces).dropLast().uppercased())
            }
        }
        let known = Dictionary(uniqueKeysWithValues: Route.allCases.map { ("/api/\($0.rawValue)", Set($0.methods)) })
        #expect(found == known)
        #expect(found.count == 23)
    }

    @Test(arguments: [
        "/api", "/api/", "/api/nothing", "/api/app/", "/API/app", "/api//app", "/x/api/app", "/api/app%2fpause",
    ])
    func `other paths are no routes`(path: String) {
        #expect(Route(path: path) == nil)
    }

    @Test func `what only asks is no action, and what changes something is one`() {
        let acting = Route.allCases.filter { $0.action != nil }
        #expect(Set(acting) == [.pause, .resume, .drain, .replay, .edit, .purge, .stop])
        #expect(acting.allSatisfy { $0.methods == ["POST"] })
    }

    @Test func `a query is decoded`() throws {
        let parameters = try Parameters("q=a%2Bb+c%26&state=&limit=5", of: .apps)
        #expect(try parameters.text("q") == "a+b c&")
        #expect(try parameters.text("state") == nil)
        #expect(try parameters.page() == Page(offset: 0, limit: 5))
    }

    @Test(arguments: [
        ("colour=red", "colour"), ("q=a&q=b", "q"), ("limit=0", "limit"), ("limit=501", "limit"), ("limit=x", "limit"),
        ("offset=-1", "offset"), ("state=odd", "state"), ("sort=odd", "sort"),
    ])
    func `a query that means nothing is refused and named`(query: String, field: String) {
        let problem = #expect(throws: Problem.self) { try AppQuestion(try Parameters(query, of: .apps)) }
        #expect(problem?.status == 400)
        #expect(problem?.field == field)
    }

    @Test(arguments: ["%", "%zz", "%ff"])
    func `a query that is not UTF-8 is refused`(query: String) {
        #expect(throws: Problem.self) { try Parameters("q=\(query)", of: .apps) }
    }

    @Test(arguments: [
        "", "x", "[]", "null", "{", #"{"app":7}"#, #"{"app":null}"#, #"{"app":"x","y":1}"#, #"{"app":""}"#, "{}",
        #"{"app":["x"]}"#, "\u{FEFF}{}",
    ])
    func `a body that is not what a route takes is refused`(body: String) {
        let problem = #expect(throws: Problem.self) {
            try BodyFields(Array(body.utf8), only: ["app"]).required("app")
        }
        #expect(problem?.status == 400)
    }

    @Test func `numbers are whole and in range`() throws {
        let fields = try BodyFields(
            Array(#"{"a":5,"b":5.5,"c":true,"d":1e300,"e":"5"}"#.utf8),
            only: ["a", "b", "c", "d", "e"]
        )
        #expect(try fields.number("a", in: 1...9) == 5)
        #expect(try fields.number("f", in: 1...9) == nil)
        for name in ["b", "c", "d", "e"] { #expect(throws: Problem.self) { try fields.number(name, in: 1...9) } }
        #expect(throws: Problem.self) { try fields.number("a", in: 6...9) }
    }

    @Test func `a selection says ids or a filter, and how many were shown`() throws {
        for body in [
            #"{"expected":1}"#, #"{"ids":["x"]}"#, #"{"ids":["x"],"filter":{},"expected":1}"#,
            #"{"filter":{"color":"red"},"expected":1}"#, #"{"filter":{"lane":"sideways"},"expected":1}"#,
            #"{"filter":{},"expected":0}"#,
        ] {
            #expect(throws: Problem.self, "\(body)") { try DeadSelection(Array(body.utf8), hasRate: true) }
        }
        let body = #"{"filter":{"reason":"expired","lane":"now"},"expected":4,"rate_per_s":9}"#
        let selection = try DeadSelection(Array(body.utf8), hasRate: true)
        #expect((selection.expected, selection.rate, selection.words) == (4, 9, "lane now, reason expired"))
        #expect(throws: Problem.self) { try DeadSelection(Array(body.utf8), hasRate: false) }
    }
}
