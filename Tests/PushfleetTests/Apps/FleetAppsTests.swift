internal import Push
internal import Store
internal import Testing
internal import Worker

@testable import pushfleet

/// Which apps run when file and Redis say this and that.
@Suite struct FleetAppsTests {
    private var apps = FleetApps()
    private let check = AppCheckTests.check()

    private func app(_ id: String, rate: Int? = nil) -> AppSettings {
        var app = AppSettings(id: id, bundleID: id, credential: "main", retry: .standard)
        app.rate = rate.flatMap { try? RateLimit(rate: $0) }
        return app
    }

    private func json(_ rate: Int) -> String { #"{"credential":"main","rate":\#(rate)}"# }

    private mutating func merge(
        _ values: [String: String]? = nil,
        removed: Set<String> = [],
        file: [String] = ["own"],
        _ check: AppCheck? = nil
    ) -> FleetApps.Outcome {
        if let values { self.apps.take(StoredApps(version: 1, values: values, removed: removed)) }
        let own = file.map { self.app($0) }
        return self.apps.merge(with: own, of: "c.yaml", check ?? self.check, isAnew: check != nil)
    }

    @Test("before Redis answers there are those of the file; then both, sorted")
    mutating func both() {
        #expect(self.merge().apps.map(\.id) == ["own"])
        let outcome = self.merge(["z": self.json(5), "a": self.json(6)])
        #expect(outcome.apps == [self.app("a", rate: 6), self.app("own"), self.app("z", rate: 5)])
        #expect(outcome.news == [])
        #expect(self.merge(["z": self.json(5)], file: []).apps.contains(self.app("z", rate: 5)))
    }

    @Test("the file goes before Redis, and that is told once for each change")
    mutating func overruled() {
        let first = self.merge(["own": self.json(5)])
        #expect(first.apps == [self.app("own")])
        #expect(first.news.map(\.app) == ["own"] && first.news.map(\.problem.severity) == [.warning])
        #expect(first.news.first?.problem.text.contains("stands in c.yaml too") == true)
        #expect(self.merge(["own": self.json(5)]).news == [])
        // Once the file lets go of it, Redis counts.
        let freed = self.merge(file: [], self.check)
        #expect(freed.apps == [self.app("own", rate: 5)] && freed.news == [])
        #expect(self.merge(["own": self.json(5)]).news.count == 1)
    }

    @Test("a wrong app is refused alone, by name and once; one that ran goes on with what it had")
    mutating func refused() {
        _ = self.merge(["good": self.json(5), "other": self.json(1)])
        let wrong = self.merge(["good": self.json(0), "new": "nonsense", "other": self.json(2)])
        #expect(wrong.apps == [self.app("good", rate: 5), self.app("other", rate: 2), self.app("own")])
        #expect(wrong.news.map(\.app) == ["good", "new"] && wrong.news.map(\.goesOn) == [true, false])
        #expect(wrong.news.map(\.problem.key) == ["apps.good.rate", "apps.new"])
        let same = self.merge(["good": self.json(0), "new": "nonsense", "other": self.json(3)])
        #expect(same.news == [] && same.apps.contains(self.app("other", rate: 3)))
        let worse = self.merge(["good": self.json(-1), "new": "nonsense", "other": self.json(3)])
        #expect(worse.news.map(\.app) == ["good"] && worse.apps.contains(self.app("good", rate: 5)))
        let mended = self.merge(["good": self.json(7), "new": self.json(8), "other": self.json(3)])
        #expect(mended.news == [] && mended.apps.map(\.id) == ["good", "new", "other", "own"])
        // The same mistake once more is news again.
        #expect(self.merge(["good": self.json(0)]).news.contains { $0.app == "good" })
    }

    @Test("what was removed goes; what Redis has lost goes on, with a warning, until it is removed or put again")
    mutating func lost() {
        _ = self.merge(["a": self.json(5), "b": self.json(6)])
        self.apps.take(StoredApps())
        let lost = self.merge()
        #expect(lost.apps.map(\.id) == ["a", "b", "own"])
        #expect(lost.news.map(\.app) == ["a", "b"] && lost.news.allSatisfy { $0.goesOn })
        #expect(lost.news.first?.problem.text.contains("Redis has lost data") == true)
        #expect(self.merge().news == [])
        // Somebody puts a third one there: the version is back, the first two are not.
        let third = self.merge(["c": self.json(7)])
        #expect(third.apps.map(\.id) == ["a", "b", "c", "own"] && third.news == [])
        let removed = self.merge(["c": self.json(7)], removed: ["a"])
        #expect(removed.apps.map(\.id) == ["b", "c", "own"] && removed.news == [])
        let back = self.merge(["b": self.json(8), "c": self.json(7)], removed: ["a"])
        #expect(back.apps == [self.app("b", rate: 8), self.app("c", rate: 7), self.app("own")])
        #expect(self.merge(["c": self.json(7)], removed: ["a", "b"]).apps.map(\.id) == ["c", "own"])
    }

    @Test("an app whose credential leaves the file cannot go on, and is back with it")
    mutating func credentials() {
        _ = self.merge(["a": self.json(5)])
        let without = self.merge(["a": self.json(5)], AppCheckTests.check("other"))
        #expect(without.apps.map(\.id) == ["own"])
        #expect(without.news.map(\.goesOn) == [false])
        #expect(without.news.first?.problem.key == "apps.a.credential")
        #expect(self.merge(["a": self.json(5)], self.check).apps.map(\.id) == ["a", "own"])
    }

    @Test("names of apps that begin like keys of others are not mixed up")
    mutating func names() {
        let outcome = self.merge(["com.a": #"{"credential":"main","rate":0}"#, "com.a.retry": self.json(5)])
        #expect(outcome.apps.map(\.id) == ["com.a.retry", "own"])
        #expect(outcome.news.map(\.app) == ["com.a"])
    }
}
