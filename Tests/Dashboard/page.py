"""Looks at the dashboard's page in a headless Chromium, against the mock. One line per check.

usage: page.py FOLDER-FOR-SCREENSHOTS
"""

import re
import subprocess
import sys
import time
import traceback
import urllib.request
from pathlib import Path

import contract
from chromium import Chromium
from fleet import HOSTILE

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "Sources/Dashboard/Page"
PAGES = ["overview", "find", "apps", "dead", "retries", "budget", "reasons", "credentials", "activity"]
# What every control looks like that the tabulator must reach.
CONTROLS = "a[href], button:not(:disabled), input:not(:disabled), select, textarea, summary, [tabindex='0']"
failed = 0
times = {}


class Mock:
    def __init__(self, *arguments):
        self.process = subprocess.Popen([sys.executable, "-B", str(HERE / "mock.py"), *arguments],
                                        stdout=subprocess.PIPE, text=True)
        self.url = f"http://127.0.0.1:{self.process.stdout.readline().strip().removeprefix('port=')}"

    def play(self, text="{}"):
        request = urllib.request.Request(f"{self.url}/mock", data=text.encode(), method="POST")
        urllib.request.urlopen(request, timeout=10).close()

    def close(self):
        self.process.terminate()
        self.process.wait()


class Visit:
    """One browser, and how one uses the page."""

    def __init__(self, mock, folder):
        self.mock, self.folder = mock, Path(folder)
        self.browser = Chromium()
        # Tells what the policy had to stop: the page itself must never try.
        self.browser.call("Page.addScriptToEvaluateOnNewDocument", source="""
            window.__stopped = [];
            addEventListener('securitypolicyviolation', (event) => window.__stopped.push(event.violatedDirective + ' ' + event.blockedURI));
        """)
        self.browser.size(1280, 900)
        self.browser.scheme("light")

    def login(self, token):
        self.browser.call("Network.clearBrowserCookies")
        self.browser.goto(f"{self.mock.url}/?{time.monotonic()}")
        self.until("document.activeElement?.id === 'token'")
        self.browser.type(token)
        self.browser.key("Enter")
        self.loaded("overview")

    def recover(self, name):
        """After a check that failed: how it looks, and a page that the next one can use."""
        self.shot("failed-" + re.sub(r"[^a-z0-9]+", "-", name.lower()))
        self.browser.size(1280, 900)
        self.mock.play()
        self.login("actor")

    def run(self, script):
        return self.browser.run(script)

    def until(self, script, patience=30):
        self.browser.until(script, patience)

    def loaded(self, view):
        self.until(f"document.getElementById('main')?.dataset.loaded === '{view}' && !document.querySelector('main[aria-busy]')")

    def go(self, address):
        view = address.split("?")[0]
        self.run(f"(delete document.getElementById('main').dataset.loaded, location.hash = {f'#/{address}'!r})")
        began = time.monotonic()
        self.loaded(view)
        return time.monotonic() - began

    def fresh(self, address):
        """The same, also if one is there already."""
        self.run("location.hash = '#/reasons'")
        self.loaded("reasons")
        return self.go(address)

    def focus(self, selector):
        """By the tabulator, as people without a mouse do."""
        for _ in range(900):
            self.browser.key("Tab")
            if self.run(f"document.activeElement.matches({selector!r})"):
                return
        raise AssertionError(f"the tabulator never reaches {selector}")

    def says(self, text):
        self.until(f"document.body.innerText.includes({text!r})")

    def shot(self, name, full=False):
        self.browser.screenshot(self.folder / f"{name}.png", full)


def check(name, test, *arguments):
    global failed
    began = time.monotonic()
    try:
        test(*arguments)
        print(f"ok {name} ({time.monotonic() - began:.1f} s)", flush=True)
    except Exception:
        failed += 1
        traceback.print_exc(file=sys.stdout)
        print(f"FAILED {name}", flush=True)
        if isinstance(arguments[0], Visit):
            arguments[0].recover(name)


# MARK: What is served

def served(mock):
    contract.check(mock.url, "actor")


def assets(mock):
    html = (PAGE / "index.html").read_text()
    assert not re.search(r"<style|style=|<script>|\son\w+=|javascript:", html), "the document holds script or style"
    names = [file.name for file in PAGE.iterdir()]
    for file in PAGE.iterdir():
        text = file.read_text()
        assert len(text.splitlines()) <= 400, f"{file.name} has more than 400 lines"
        addresses = set(re.findall(r"https?://[^'\"`\s)]+", text)) - {"http://www.w3.org/2000/svg"}
        assert not addresses, f"{file.name} names {addresses}"
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "DOMParser",
                     "setHTML", "createContextualFragment", ".srcdoc", "cssText"):
            assert word not in text, f"{file.name} has {word}"
        for name in re.findall(r"from '\./([^']+)'", text) + re.findall(r"\"page/([^\"]+)\"", text):
            assert name in names, f"{file.name} asks for {name}, which is not there"
    with urllib.request.urlopen(f"{mock.url}/", timeout=10) as answer:
        policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "require-trusted-types-for 'script'" in policy


# MARK: Who may

def wrong_token(visit):
    visit.browser.call("Network.clearBrowserCookies")
    visit.browser.goto(visit.mock.url)
    visit.until("document.activeElement?.id === 'token'")
    visit.browser.type("nobody")
    visit.browser.key("Enter")
    visit.says("No user has this token")
    visit.shot("login")


def cookie(visit):
    visit.login("actor")
    found = {row["name"]: row for row in visit.browser.call("Network.getCookies")["cookies"]}["pushfleet_session"]
    assert found["httpOnly"] and found["sameSite"] == "Strict", found
    assert visit.run("document.cookie") == "", "the page can read the session"
    assert visit.run("fetch('api/app/pause', {method: 'POST', body: '{}'}).then((answer) => answer.status)") == 403


def reader(visit):
    visit.login("reader")
    visit.says("may only look")
    words = {"Pause…", "Resume", "Probe now", "Drain…", "Replay…", "Purge…", "Edit and replay", "Stop"}
    letter = visit.run("fetch('api/dead?limit=1').then((answer) => answer.json()).then((page) => page.items[0].id)")
    for address in [*PAGES, "app?app=com.example.shop", f"letter?id={letter}"]:
        visit.go(address)
        found = set(visit.run("[...document.querySelectorAll('main button')].map((one) => one.textContent)"))
        assert not {word for word in found if word in words or word.startswith(("Replay", "Purge"))}, f"{address}: {found}"


# MARK: Many

def renders(visit, address):
    times[address] = visit.go(address)
    size = visit.run("document.querySelectorAll('*').length")
    assert size < 6000, f"{size} elements"
    assert visit.run("document.querySelectorAll('main h1').length") == 1
    assert not visit.run("!document.getElementById('problem').hidden"), visit.run("document.getElementById('problem').innerText")
    unnamed = visit.run(f"""[...document.querySelectorAll({CONTROLS!r})].filter((one) => one.checkVisibility()
        && !(one.innerText || one.getAttribute('aria-label') || one.labels?.length)).map((one) => one.outerHTML.slice(0, 200))""")
    assert not unnamed, f"controls without a name: {unnamed}"
    visit.shot(f"wide-{address.split('?')[0]}", full=True)


def pages_of_dead(visit):
    visit.go("dead")
    visit.says("1 to 100 of 10,000")
    first = visit.run("document.querySelector('tbody a').href")
    visit.focus(".pager button:not(:disabled)")
    visit.browser.key("Enter")
    visit.says("101 to 200 of 10,000")
    assert visit.run("document.querySelector('tbody a').href") != first
    visit.run("[...document.querySelectorAll('.pager button')].find((one) => one.textContent === 'Back').click()")
    visit.says("1 to 100 of 10,000")
    assert visit.run("document.querySelector('tbody a').href") == first


def filters(visit):
    visit.go("dead")
    visit.focus("#dead-q")
    visit.browser.type("order-100042")
    visit.browser.key("Enter")
    visit.says("1 of 10,000 dead letters")
    visit.fresh("dead?min_age=2h&lane=now")
    assert visit.run("document.querySelector('#dead-min_age').value") == "2h"
    visit.until("document.querySelectorAll('tbody tr').length === 100")
    visit.run("document.querySelector('#dead-max_age').value = 'yesterday', document.querySelector('.filter').requestSubmit()")
    visit.says("Ages are a number and")
    visit.go("apps?state=paused")
    visit.says("3 apps")
    visit.focus("#apps-q")
    visit.browser.type("no such app")
    visit.says("No app fits.")


# MARK: Live

def live(visit):
    visit.go("overview")
    visit.until("document.getElementById('state').textContent === 'live'")
    age = "[...document.querySelectorAll('tr')].find((row) => row.innerText.startsWith('Lane now')).innerText"
    before = visit.run(age)
    visit.until(f"{age} !== {before!r}")


def keeps_focus(visit):
    visit.go("apps")
    visit.run("window.__asked = 0, window.__fetch = fetch, window.fetch = (...all) => { window.__asked += 1; return window.__fetch(...all); }")
    visit.focus("td.tools button")
    visit.run("window.__held = document.activeElement")
    visit.until("window.__asked >= 2 && !document.querySelector('main[aria-busy]')")
    assert visit.run("document.activeElement === window.__held"), "a refresh took the focus away"


def stream_comes_back(visit):
    visit.go("overview")
    visit.mock.play('{"stream": false}')
    visit.until("document.getElementById('state').textContent === 'connecting…'")
    visit.mock.play()
    visit.until("document.getElementById('state').textContent === 'live'")


# MARK: Keyboard

def reaches_all(visit, address):
    """Every control on the page gets the focus, in the page's order, and shows that it has it."""
    visit.fresh(address)
    visit.browser.settle(0.2)
    # Nothing shall come and go meanwhile.
    visit.mock.play('{"stream": false}')
    visit.until("document.getElementById('state').textContent !== 'live'")
    visit.run("document.activeElement.blur(), getSelection().removeAllRanges(), scrollTo(0, 0)")
    wanted = visit.run(f"""(() => {{
        window.__wanted = [...document.querySelectorAll({CONTROLS!r})].filter((one) => one.checkVisibility({{visibilityProperty: true}}));
        window.__seen = new Set();
        window.__dull = [];
        return window.__wanted.length;
    }})()""")
    for _ in range(wanted + 8):
        visit.browser.key("Tab")
        visit.run("""(() => {
            const one = document.activeElement;
            window.__seen.add(one);
            const style = getComputedStyle(one);
            if (one !== document.body && style.outlineStyle === 'none') window.__dull.push(one.outerHTML.slice(0, 120));
        })()""")
    missed = visit.run("window.__wanted.filter((one) => !window.__seen.has(one)).map((one) => one.outerHTML.slice(0, 160))")
    dull = visit.run("window.__dull")
    visit.mock.play()
    assert not missed, f"{len(missed)} of {wanted} are never reached: {missed[:5]}"
    assert not dull, f"focus cannot be seen: {dull[:3]}"


def confirm(visit):
    visit.until("document.querySelector('dialog[open]')")
    visit.focus("dialog button[type=submit]")
    visit.browser.key("Enter")
    visit.until("!document.querySelector('dialog[open]')")


def pauses(visit):
    visit.fresh("app?app=com.example.shop")
    visit.focus("main .row button")
    visit.browser.key("Enter")
    visit.until("document.activeElement.id === 'ask-reason'")
    visit.browser.type(HOSTILE[0])
    visit.focus("#ask-time")
    visit.browser.type("soon")
    visit.browser.key("Enter")
    visit.says("The time is a number")
    visit.shot("pause")
    visit.run("document.activeElement.select()")
    visit.browser.type("10m")
    visit.browser.key("Enter")
    visit.says("com.example.shop is paused")
    visit.says("paused by hand")
    visit.until("document.querySelector('main .row button').textContent === 'Resume'")
    visit.focus("main .row button")
    visit.browser.key("Enter")
    confirm(visit)
    visit.says("com.example.shop goes on")
    visit.until("document.querySelector('main .row button').textContent === 'Pause…'")


def drains(visit):
    visit.fresh("budget")
    visit.focus("td.tools button")
    visit.browser.key("Enter")
    visit.until("document.querySelector('dialog[open]')")
    visit.browser.key("Escape")
    visit.until("!document.querySelector('dialog[open]')")
    assert visit.run("document.activeElement.matches('td.tools button')"), "Escape does not give the focus back"
    visit.browser.key("Enter")
    confirm(visit)
    visit.says("drains and exits")
    visit.until("[...document.querySelectorAll('td')].some((one) => one.textContent === 'drains')")


def letters(visit):
    return visit.run("fetch('api/dead?limit=1').then((answer) => answer.json()).then((page) => page.messages)")


def replays(visit):
    before = letters(visit)
    visit.fresh("dead")
    visit.focus("td.tick input")
    visit.browser.key(" ")
    visit.browser.key("Tab")
    visit.focus("td.tick input")
    visit.browser.key(" ")
    visit.says("Replay 2 chosen…")
    visit.run("document.querySelector('.bulk input').focus()")
    visit.focus(".bulk button")
    visit.browser.key("Enter")
    visit.until("document.activeElement.id === 'ask-rate'")
    visit.shot("replay")
    confirm(visit)
    visit.says("Replaying 2 dead letters")
    visit.until("fetch('api/dead?limit=1').then((answer) => answer.json()).then((page) => page.messages === %d)" % (before - 2))


def purges(visit):
    visit.fresh("dead?reason=invalid_json")
    many = int(visit.run("document.querySelector('.bulk .danger').textContent").split()[2].replace(",", "").rstrip("…"))
    before = letters(visit)
    visit.focus(".bulk .danger")
    visit.browser.key("Enter")
    visit.until("document.activeElement.id === 'ask-typed'")
    assert visit.run("document.querySelector('dialog button[type=submit]').disabled"), "a purge needs no confirmation"
    visit.browser.type("purge 1")
    visit.browser.key("Enter")
    visit.run("document.activeElement.select()")
    visit.shot("purge")
    assert letters(visit) == before, "purged without the right words"
    visit.browser.type(f"purge {many}")
    visit.browser.key("Enter")
    visit.says("No dead letter fits.")
    assert letters(visit) == before - many


def job_is_shown(visit):
    visit.fresh("dead?reason=suspect_token")
    visit.run("document.querySelector('.bulk button').click()")
    visit.until("document.activeElement.id === 'ask-rate'")
    visit.run("document.activeElement.select()")
    visit.browser.type("20")
    visit.browser.key("Enter")
    visit.until("/replay: \\d+ of/.test(document.getElementById('jobs').innerText)")
    visit.shot("job")
    visit.focus("#jobs button")
    visit.browser.key("Enter")
    visit.until("document.getElementById('jobs').innerText === ''")
    visit.go("activity")
    visit.says("stopped after")


def changed_meanwhile(visit):
    visit.fresh("dead?reason=expired")
    visit.run("""(() => { window.__plain = window.fetch; window.fetch = (path, options) => window.__plain(path, options && options.body
        ? {...options, body: options.body.replace(/"expected":\\d+/, '"expected":1')} : options); })()""")
    visit.run("document.querySelector('.bulk button').click()")
    visit.until("document.activeElement.id === 'ask-rate'")
    visit.browser.key("Enter")
    visit.says("you were shown 1")
    visit.run("window.fetch = window.__plain")


def edits(visit):
    name = visit.run("""fetch('api/dead?limit=1&reason=payload_too_large').then((answer) => answer.json()).then((page) => page.items[0].id)""")
    visit.fresh(f"letter?id={name}")
    visit.focus(".edit")
    visit.browser.key("Enter")
    visit.until("document.activeElement.id === 'edit-body'")
    visit.run("document.activeElement.select()")
    visit.browser.type('{"app": "com.example.shop"')
    visit.focus("main form button[type=submit]")
    visit.browser.key("Enter")
    visit.says("the body is not valid JSON")
    visit.until("document.activeElement.id === 'edit-body'")
    assert visit.run("document.activeElement.value") == '{"app": "com.example.shop"', "an error lost what was typed"
    visit.shot("edit")
    visit.run("document.activeElement.select()")
    visit.browser.type('{"app": "com.example.shop", "payload": {"aps": {}}}')
    visit.focus("main form button[type=submit]")
    visit.browser.key("Enter")
    visit.says("was published with the new body")
    visit.loaded("dead")
    visit.go(f"letter?id={name}")
    visit.says("This dead letter is not in the queue any more")


def finds(visit):
    visit.fresh("find")
    visit.until("document.activeElement.id === 'find-what'")
    visit.browser.type("order-17")
    visit.browser.key("Enter")
    visit.says("40 tokens: 38 delivered, 1 dead-lettered, 1 token gone")
    visit.says("Remove the token unless")
    assert visit.run("location.hash") == "#/find?what=order-17"
    visit.shot("find-message", full=True)
    visit.run("document.activeElement.select()")
    visit.browser.type("9f86d081884c7d65" * 4)
    visit.browser.key("Enter")
    visit.says("apns-id 3f0c9d0e")
    assert "9f86" not in visit.run("location.href"), "a device token stands in the address"
    visit.run("document.activeElement.select()")
    visit.browser.type("nothing-of-the-kind")
    visit.browser.key("Enter")
    visit.says("the trail begins 26 hours ago")


def short_ways(visit):
    visit.fresh("overview")
    for letter, view in (("d", "dead"), ("a", "apps"), ("b", "budget"), ("o", "overview")):
        visit.browser.key("g")
        visit.browser.key(letter)
        visit.loaded(view)
        visit.until(f"location.hash === '#/{view}'")
    visit.go("apps")
    visit.browser.key("/")
    visit.until("document.activeElement.id === 'apps-q'")
    visit.browser.type("g")
    visit.browser.key("o")
    assert visit.run("location.hash").startswith("#/apps"), "letters in a field are a short way"
    visit.run("document.activeElement.blur()")
    visit.browser.key("?", shift=True)
    visit.until("document.querySelector('dialog[open]')")
    visit.shot("keyboard")
    visit.browser.key("Escape")
    visit.until("!document.querySelector('dialog')")


# MARK: Strangers' words

def harmless(visit):
    for text in HOSTILE:
        address = visit.run(f"'app?' + new URLSearchParams({{app: {text!r}}})")
        visit.go(address)
        shown = visit.run("document.querySelector('h1').textContent")
        assert not re.search("[\u0000-\u001f\u202e]", shown), f"control characters reach the page: {shown!r}"
        if text.isprintable():
            assert text == shown, f"{shown!r} instead of {text!r}"
    ids = visit.run("fetch('api/dead?limit=500').then((answer) => answer.json()).then((page) => page.items.map((row) => row.id))")
    for name in ids[:40]:
        visit.go(f"letter?id={name}")
    visit.go("find?what=" + visit.run(f"encodeURIComponent({HOSTILE[1]!r})"))
    visit.go("dead?reason=" + visit.run(f"encodeURIComponent({HOSTILE[2]!r})"))
    visit.go("activity")
    visit.browser.goto(f"{visit.mock.url}/?{time.monotonic()}#/__proto__?constructor=1")
    visit.loaded("overview")


def nothing_ran(visit):
    assert visit.run("window.__hit === undefined"), visit.run("String(window.__hit)")
    assert not visit.browser.happened("Page.javascriptDialogOpening"), "a dialog of a stranger opened"
    assert visit.run("window.__stopped.length") == 0, visit.run("window.__stopped")
    errors = [event["exceptionDetails"].get("exception", {}).get("description") for event in visit.browser.happened("Runtime.exceptionThrown")]
    assert not errors, errors
    texts = [event["entry"]["text"] for event in visit.browser.happened("Log.entryAdded")]
    assert not [text for text in texts if "Content Security Policy" in text or "TrustedHTML" in text], texts


def policy_holds(visit):
    """That the check above can fail: the policy stops what a page without care would do."""
    stopped = visit.run("""(() => { try { document.body.innerHTML = '<img src=x onerror="window.__hit=1">'; return false; }
        catch (error) { return error instanceof TypeError; } })()""")
    assert stopped, "markup from a string is let in"
    visit.run("(() => { const script = document.createElement('script'); try { script.textContent = 'window.__hit=1'; } catch { } document.body.append(script); })()")
    visit.until("window.__stopped.length > 0")
    assert visit.run("window.__hit === undefined")


# MARK: Looks

LUMINANCE = """(() => {
    const light = (text) => { const [r, g, b] = text.match(/[\\d.]+/g).map(Number).map((value) => { value /= 255;
        return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const probe = document.createElement('span'); document.body.append(probe);
    const of = (name) => { probe.style.color = `var(${name})`; return light(getComputedStyle(probe).color); };
    const ratio = (one, two) => { const [high, low] = [of(one), of(two)].sort((left, right) => right - left); return (high + 0.05) / (low + 0.05); };
    const result = {paper: of('--paper')};
    for (const ink of ['--ink', '--soft', '--accent', '--bad', '--warn']) for (const paper of ['--paper', '--sheet', '--sunk'])
        result[`${ink} on ${paper}`] = ratio(ink, paper);
    result['--on-accent on --accent'] = ratio('--on-accent', '--accent');
    result['--bad on --bad-tint'] = ratio('--bad', '--bad-tint');
    result['--warn on --warn-tint'] = ratio('--warn', '--warn-tint');
    result['--accent on --tint'] = ratio('--accent', '--tint');
    probe.remove();
    return result;
})()"""


def colours(visit):
    for scheme in ("light", "dark"):
        visit.browser.scheme(scheme)
        values = visit.run(LUMINANCE)
        paper = values.pop("paper")
        assert (paper > 0.5) == (scheme == "light"), f"{scheme}: the paper has a luminance of {paper}"
        poor = {name: round(value, 2) for name, value in values.items() if value < 4.5}
        assert not poor, f"{scheme}: contrast below 4.5 to 1: {poor}"
        for view in ("overview", "apps", "dead"):
            visit.go(view)
            visit.shot(f"{scheme}-{view}")
    visit.run("(() => { const one = document.getElementById('theme'); one.value = 'light'; one.dispatchEvent(new Event('change')); })()")
    assert visit.run(LUMINANCE)["paper"] > 0.5, "the choice of colours is not followed"
    visit.browser.goto(f"{visit.mock.url}/?{time.monotonic()}#/apps")
    visit.loaded("apps")
    assert visit.run(LUMINANCE)["paper"] > 0.5, "the choice of colours is forgotten"
    visit.run("localStorage.clear()")
    visit.browser.scheme("light")


def phone(visit, address, width):
    visit.browser.size(width, 780, True)
    visit.fresh(address)
    visit.browser.settle(0.1)
    wide, inner = visit.run("[Math.max(document.documentElement.scrollWidth, document.body.scrollWidth), document.documentElement.clientWidth]")
    if width == 390:
        visit.shot(f"phone-{address.split('?')[0]}")
    if wide > inner:
        culprits = visit.run(f"[...document.querySelectorAll('main *')].filter((one) => one.getBoundingClientRect().right > {inner} + 1)"
                             ".slice(0, 5).map((one) => one.outerHTML.slice(0, 160))")
        raise AssertionError(f"{address} is {wide} wide on {width}: {culprits}")


def phones(visit):
    letter = visit.run("fetch('api/dead?limit=500').then((answer) => answer.json()).then((page) => page.items.find((row) => row.detail.startsWith('W')).id)")
    long = visit.run(f"'app?' + new URLSearchParams({{app: {HOSTILE[8]!r}}})")
    try:
        for width in (390, 320):
            for address in [*PAGES, long, f"letter?id={letter}", "find?what=order-17", "dead?reason=expired&min_age=1m",
                            "budget?pool=" + "%7Bproduction.ABCDE12345.KEY1234567%7D"]:
                phone(visit, address, width)
        visit.run("document.getElementById('menu').focus()")
        visit.browser.key("Enter")
        visit.until("document.activeElement.closest('#pages')")
        visit.shot("phone-menu")
        visit.browser.key("Escape")
        visit.until("document.activeElement.id === 'menu' && !document.querySelector('.side').checkVisibility()")
    finally:
        visit.browser.size(1280, 900)


# MARK: Bad days

def errors_are_shown(visit):
    routes = {"apps": "/api/apps", "dead": "/api/dead", "retries": "/api/ladder", "budget": "/api/workers",
              "reasons": "/api/reasons", "credentials": "/api/credentials", "activity": "/api/actions"}
    for view, route in routes.items():
        visit.go("overview")
        visit.mock.play(f'{{"fail": {{"{route}": 503}}}}')
        visit.go(view)
        visit.until("!document.getElementById('problem').hidden")
        visit.says("RabbitMQ does not answer: connection refused – Look at RabbitMQ, then try again.")
        if view == "dead":
            visit.shot("error")
        visit.mock.play()
        visit.focus("#problem button")
        visit.browser.key("Enter")
        visit.until("document.getElementById('problem').hidden")
    visit.go("app?app=nobody")
    visit.says("There is no such app")


def partly_away(visit):
    visit.go("overview")
    visit.mock.play('{"down": ["redis"]}')
    visit.until("document.getElementById('state').textContent === 'Redis away'")
    visit.says("redis does not answer")
    visit.shot("redis-away", full=True)
    visit.mock.play('{"down": ["redis", "rabbitmq"]}')
    visit.until("document.getElementById('state').textContent === 'Redis and RabbitMQ away'")
    visit.mock.play()
    visit.until("document.getElementById('state').textContent === 'live'")


def session_ends(visit):
    visit.go("dead")
    visit.mock.play('{"expire": true}')
    visit.says("Your session is over.")
    visit.until("document.activeElement.id === 'token'")
    assert "order-" not in visit.run("document.body.innerText"), "data stays on the page after the session"
    visit.browser.type("actor")
    visit.browser.key("Enter")
    visit.loaded("dead")
    visit.focus("#logout")
    visit.browser.key("Enter")
    visit.says("You are logged out.")
    assert visit.run("fetch('api/session').then((answer) => answer.status)") == 401


def main(folder):
    small = Mock("--apps", "20", "--workers", "5", "--dead", "60")
    check("the mock answers as the contract says", served, small)
    check("nothing on the page comes from elsewhere or is made of strings", assets, small)
    small.close()
    mock = Mock("--apps", "500", "--workers", "50", "--dead", "10000")
    visit = Visit(mock, folder)
    try:
        check("a wrong token is told so", wrong_token, visit)
        check("the session's cookie is out of reach, and a call without the page's header is refused", cookie, visit)
        check("who may only look sees nothing to act with", reader, visit)
        visit.login("actor")
        letter = visit.run("fetch('api/dead?limit=1').then((answer) => answer.json()).then((page) => page.items[0].id)")
        for address in [*PAGES, "app?app=com.example.shop", f"letter?id={letter}"]:
            check(f"500 apps, 50 workers, 10,000 dead letters: {address.split('?')[0]}", renders, visit, address)
        check("dead letters by page, there and back", pages_of_dead, visit)
        check("filters, and what is no filter", filters, visit)
        check("numbers move by themselves", live, visit)
        check("a refresh leaves the focus where it is", keeps_focus, visit)
        check("the stream comes back", stream_comes_back, visit)
        for address in [*PAGES, "app?app=com.example.shop", f"letter?id={letter}"]:
            check(f"the tabulator reaches every control: {address.split('?')[0]}", reaches_all, visit, address)
        check("by keyboard: pause and resume", pauses, visit)
        check("by keyboard: drain, and Escape", drains, visit)
        check("by keyboard: replay two", replays, visit)
        check("by keyboard: purge, with the words typed", purges, visit)
        check("by keyboard: a job, and its stop", job_is_shown, visit)
        check("by keyboard: edit and replay; an error keeps what was typed", edits, visit)
        check("by keyboard: find a message and a token", finds, visit)
        check("by keyboard: short ways", short_ways, visit)
        check("more letters than were shown: nothing is done", changed_meanwhile, visit)
        check("hostile names are shown", harmless, visit)
        check("light and dark, by system and by choice, with contrast", colours, visit)
        check("phones: no page is wider than the screen", phones, visit)
        check("errors are shown, and gone when they are over", errors_are_shown, visit)
        check("Redis or RabbitMQ away", partly_away, visit)
        check("the end of a session, and logging out", session_ends, visit)
        check("nothing hostile ran, nothing had to be stopped, no script failed", nothing_ran, visit)
        check("and the policy would have stopped it", policy_holds, visit)
    finally:
        visit.browser.close()
        mock.close()
    print("shown after: " + ", ".join(f"{address.split('?')[0]} {seconds * 1000:.0f} ms" for address, seconds in times.items()))
    return failed


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1]) else 0)
