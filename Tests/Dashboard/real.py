"""Looks at the page of a real dashboard in a headless Chromium, with the fleet of seed.py behind it. One line per check.

usage: real.py FOLDER-FOR-SCREENSHOTS ADDRESS ACTOR-TOKEN READER-TOKEN
"""

import json
import sys

import page
from page import PAGES, Visit, check


class Served:
    """The real server in the mock's place: it plays nothing."""

    def __init__(self, url, actor, reader):
        self.url, self.tokens = url, {"actor": actor, "reader": reader}

    def play(self, text="{}"):
        assert text == "{}", "a real server plays no bad days"


class RealVisit(Visit):
    def login(self, token):
        super().login(self.mock.tokens[token])


def first(visit, reason):
    return visit.run(f"fetch('api/dead?limit=1&reason={reason}').then((answer) => answer.json()).then((page) => page.items[0].id)")


def cookie(visit):
    visit.login("actor")
    found = {row["name"]: row for row in visit.browser.call("Network.getCookies")["cookies"]}["pushfleet_session"]
    assert found["httpOnly"] and found["sameSite"] == "Strict", found
    assert visit.run("document.cookie") == "", "the page can read the session"
    assert visit.run("fetch('api/app/pause', {method: 'POST', body: '{}'}).then((answer) => answer.status)") == 403


def live(visit):
    visit.go("overview")
    visit.until("document.getElementById('state').textContent === 'live'")
    visit.run("window.__at = performance.now()")
    # Longer than the stream's beat: what is late would be told.
    visit.browser.settle(11)
    assert visit.run("document.getElementById('state').textContent") == "live"


def drawn(visit):
    """Minutes of the fleet and of each app, and the age of what lies in the dead letters."""
    visit.go("overview")
    visit.until("document.querySelectorAll('.plot polyline.line').length >= 5")
    visit.until("document.querySelectorAll('td.drawn svg polyline').length >= 6")
    age = "[...document.querySelectorAll('tr')].find((row) => row.innerText.startsWith('Dead letters')).innerText"
    visit.until(f"/Dead letters\\s+\\d/.test({age})")
    visit.go("apps?sort=delivered")
    # The hour is read in steps while somebody looks.
    visit.until("[...document.querySelectorAll('tbody tr')].every((row) => !row.querySelector('td:nth-child(9)').innerText.includes('–'))", 60)
    minutes = visit.run("[...document.querySelectorAll('tbody tr')].map((row) => +row.querySelector('td:nth-child(7)').innerText.replaceAll(',', ''))")
    assert minutes[0] > 1000 and minutes == sorted(minutes, reverse=True), minutes


def small_and_dark(visit):
    visit.browser.scheme("dark")
    for address in ("overview", "apps", "dead"):
        visit.go(address)
        visit.shot(f"dark-{address}")
    visit.browser.scheme("light")
    visit.browser.size(390, 844, True)
    for address in ("overview", "apps", "dead"):
        visit.go(address)
        visit.shot(f"phone-{address}")
        assert visit.run("document.documentElement.scrollWidth") <= 390, address
    visit.browser.size(1280, 900)


def replays(visit):
    before = page.letters(visit)
    name = first(visit, "apns_rejected")
    visit.fresh("dead?reason=apns_rejected")
    visit.focus("td.tick input")
    visit.browser.key(" ")
    visit.says("Replay 1 chosen…")
    visit.run("document.querySelector('.bulk input').focus()")
    visit.focus(".bulk button")
    visit.browser.key("Enter")
    page.confirm(visit)
    gone = f"fetch('api/dead/letter?id={name}').then((answer) => answer.status === 404)"
    visit.until(gone)
    visit.until(f"fetch('api/dead?limit=1').then((answer) => answer.json()).then((page) => page.messages === {before - 1})")


def purges(visit):
    visit.fresh("dead?reason=age_limit")
    many = int(visit.run("document.querySelector('.bulk .danger').textContent").split()[2].replace(",", "").rstrip("…"))
    before = page.letters(visit)
    visit.focus(".bulk .danger")
    visit.browser.key("Enter")
    visit.until("document.activeElement.id === 'ask-typed'")
    visit.browser.type(f"purge {many}")
    visit.browser.key("Enter")
    visit.says("No dead letter fits.")
    visit.until(f"fetch('api/dead?limit=1').then((answer) => answer.json()).then((page) => page.messages === {before - many})")


def edits(visit):
    name = first(visit, "invalid_field")
    body = json.loads(visit.run(f"fetch('api/dead/letter?id={name}').then((answer) => answer.json()).then((letter) => letter.body)"))
    visit.fresh(f"letter?id={name}")
    visit.focus(".edit")
    visit.browser.key("Enter")
    visit.until("document.activeElement.id === 'edit-body'")
    visit.focus("main form button[type=submit]")
    visit.browser.key("Enter")
    visit.says("expires_at")
    visit.shot("real-edit")
    visit.run("(document.getElementById('edit-body').focus(), document.activeElement.select())")
    visit.browser.type(json.dumps(body | {"expires_at": 0}))
    visit.focus("main form button[type=submit]")
    visit.browser.key("Enter")
    visit.says("was published with the new body")
    visit.go(f"letter?id={name}")
    visit.says("This dead letter is not in the queue any more")


def drains(visit):
    visit.fresh("budget")
    visit.focus("td.tools button")
    visit.browser.key("Enter")
    visit.until("document.querySelector('dialog[open]')")
    visit.focus("dialog button[type=submit]")
    visit.browser.key("Enter")
    visit.says("begins to drain within 2 seconds")


def finds(visit):
    visit.fresh("find")
    visit.until("document.activeElement.id === 'find-what'")
    visit.browser.type("nothing-of-the-kind")
    visit.browser.key("Enter")
    visit.says("is known of message or token nothing-of-the-kind")


def letters_are_harmless(visit):
    ids = visit.run("fetch('api/dead?limit=500').then((answer) => answer.json()).then((page) => page.items.map((row) => row.id))")
    for name in ids[:40]:
        visit.go(f"letter?id={name}")
    for address in ("budget", "dead", "activity", "reasons"):
        visit.go(address)


def logs_out(visit):
    visit.go("overview")
    visit.focus("#logout")
    visit.browser.key("Enter")
    visit.says("You are logged out.")
    assert visit.run("fetch('api/session').then((answer) => answer.status)") == 401


def main(folder, url, actor, reader):
    served = Served(url, actor, reader)
    visit = RealVisit(served, folder)
    try:
        check("the session's cookie is out of reach, and a call without the page's header is refused", cookie, visit)
        check("who may only look sees nothing to act with", page.reader, visit)
        visit.login("actor")
        letter = first(visit, "suspect_token")
        for address in [*PAGES, "app?app=com.example.shop", f"letter?id={letter}"]:
            check(f"a real fleet: {address.split('?')[0]}", page.renders, visit, address)
        check("minutes are drawn, and apps sorted by them", drawn, visit)
        check("in the dark, and on a phone", small_and_dark, visit)
        check("the stream stays", live, visit)
        check("a refresh leaves the focus where it is", page.keeps_focus, visit)
        check("by keyboard: pause and resume", page.pauses, visit)
        check("by keyboard: drain", drains, visit)
        check("by keyboard: replay", replays, visit)
        check("by keyboard: purge, with the words typed", purges, visit)
        check("by keyboard: edit and replay, first refused", edits, visit)
        check("by keyboard: find nothing", finds, visit)
        check("hostile names are shown", letters_are_harmless, visit)
        check("logging out", logs_out, visit)
        check("nothing hostile ran, nothing had to be stopped, no script failed", page.nothing_ran, visit)
    finally:
        visit.browser.close()
    print("shown after: " + ", ".join(f"{one.split('?')[0]} {seconds * 1000:.0f} ms" for one, seconds in page.times.items()))
    return page.failed


if __name__ == "__main__":
    sys.exit(1 if main(*sys.argv[1:]) else 0)
