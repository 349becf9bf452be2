internal import Crypto
internal import Foundation
internal import Hummingbird

/// The page at the control port: what the simulator sees, as it comes.
///
/// Everything is in one document, and the browser is told to take nothing from anywhere else. It shows device tokens in
/// full: a simulator has no real ones.
enum ControlPage {
    static let document: [UInt8] = Array(
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>PushFleet simulator</title>
        <style>\(Self.style)</style>
        </head>
        \(Self.body)
        <script>\(Self.script)</script>
        </html>

        """.utf8
    )

    /// Only what is in the document, named by its hash, and only questions to where it came from.
    static let policy: String = {
        func hash(_ text: String) -> String {
            "'sha256-\(Data(SHA256.hash(data: Data(text.utf8))).base64EncodedString())'"
        }
        return "default-src 'none'; style-src \(hash(Self.style)); script-src \(hash(Self.script)); "
            + "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    }()

    private static let body = """
        <body>
        <header>
          <h1>APNs simulator</h1>
          <p id="state" role="status">…</p>
          <label><input type="checkbox" id="live" checked> live</label>
        </header>
        <main>
          <section id="play" aria-labelledby="play-title" hidden>
            <h2 id="play-title">Scenario</h2>
            <p id="play-text"></p>
            <ol id="play-steps"></ol>
          </section>
          <section aria-labelledby="numbers-title">
            <h2 id="numbers-title">Numbers</h2>
            <dl id="numbers"></dl>
          </section>
          <section aria-labelledby="rules-title">
            <h2 id="rules-title">Rules in force</h2>
            <div class="scroll" tabindex="0" role="region" aria-labelledby="rules-title">
              <table id="rules">
                <thead><tr><th>Rule</th><th class="number">Hits</th><th>When</th><th>What</th></tr></thead>
                <tbody></tbody>
              </table>
            </div>
          </section>
          <section aria-labelledby="requests-title">
            <h2 id="requests-title">Last requests</h2>
            <form id="filter" role="search">
              <label>Token <input id="token" autocomplete="off" spellcheck="false" placeholder="all"></label>
            </form>
            <div class="scroll" tabindex="0" role="region" aria-labelledby="requests-title">
              <table id="requests">
                <thead><tr><th>Time</th><th>Answer</th><th>Token</th><th>Topic</th><th>Type</th>
                  <th class="number">Bytes</th><th class="number">Connection</th><th>Rule</th></tr></thead>
                <tbody></tbody>
              </table>
            </div>
            <p class="hint">Times are the simulator's. Tokens are shown in full, for this is a simulator.</p>
          </section>
          <section aria-labelledby="connections-title">
            <h2 id="connections-title">Connections</h2>
            <div class="scroll" tabindex="0" role="region" aria-labelledby="connections-title">
              <table id="connections">
                <thead><tr><th class="number">No.</th><th>Open</th><th>Key</th><th class="number">Requests</th>
                  <th class="number">Accepted</th><th class="number">Most at once</th>
                  <th class="number">Stream limit</th><th>Ending</th></tr></thead>
                <tbody></tbody>
              </table>
            </div>
          </section>
        </main>
        </body>
        """

    private static let style = """

        :root { color-scheme: light dark; --line: light-dark(#d5d9df, #3a4048); --soft: light-dark(#5b6470, #a2abb7);
          --back: light-dark(#fff, #16191d); --text: light-dark(#1a1d21, #e8ebee); --card: light-dark(#f5f6f8, #1f2328);
          --good: light-dark(#0a6b38, #6fd69b); --bad: light-dark(#a91a1a, #ff9c94); --none: light-dark(#7a5400, #efc265);
          --accent: light-dark(#0b57b5, #86b8ff); }
        * { box-sizing: border-box }
        body { margin: 0; background: var(--back); color: var(--text); font: 15px/1.45 system-ui, sans-serif }
        header { display: flex; flex-wrap: wrap; align-items: baseline; gap: .4rem 1.5rem; padding: .8rem 1rem;
          border-bottom: 1px solid var(--line); position: sticky; top: 0; background: var(--back); z-index: 1 }
        h1 { font-size: 1.1rem; margin: 0 } h2 { font-size: 1rem; margin: 0 0 .5rem }
        header p { margin: 0; color: var(--soft); flex: 1 1 12rem }
        main { padding: 1rem; display: grid; gap: 1.5rem; max-width: 90rem; margin: auto }
        section { min-width: 0 }
        dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(8.5rem, 1fr)); gap: .5rem; margin: 0 }
        dl div { background: var(--card); border-radius: .4rem; padding: .5rem .7rem }
        dt { color: var(--soft); font-size: .85rem } dd { margin: 0; font-size: 1.15rem; font-variant-numeric: tabular-nums }
        .scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: .4rem }
        .scroll:focus-visible, input:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px }
        table { border-collapse: collapse; width: 100%; font-size: .9rem }
        th, td { text-align: left; padding: .3rem .6rem; white-space: nowrap; border-top: 1px solid var(--line) }
        thead th { border-top: 0; color: var(--soft); font-weight: 600; background: var(--card) }
        td { font-variant-numeric: tabular-nums } .number { text-align: right }
        td.token { font-family: ui-monospace, monospace }
        .good { color: var(--good) } .bad { color: var(--bad) } .none { color: var(--none) }
        .empty, .hint { color: var(--soft) } .hint { font-size: .85rem; margin: .4rem 0 0 }
        form { margin: 0 0 .5rem } input#token { font: inherit; font-family: ui-monospace, monospace; width: min(100%, 24rem);
          padding: .3rem .5rem; border: 1px solid var(--line); border-radius: .3rem; background: var(--back); color: inherit }
        #play-text { margin: 0 0 .5rem; max-width: 70ch } ol { margin: 0; padding-left: 1.4rem }
        li.done { color: var(--soft) }
        .stale main { opacity: .5 }

        """

    private static let script = """

        'use strict';
        const byId = id => document.getElementById(id);
        const cell = (row, text, kind) => {
          const td = row.insertCell(); td.textContent = text ?? ''; if (kind) td.className = kind; return td;
        };
        const fill = (id, items, empty, draw) => {
          const body = byId(id).tBodies[0], fresh = document.createElement('tbody');
          for (const item of items) draw(fresh.insertRow(), item);
          if (!items.length) {
            const td = cell(fresh.insertRow(), empty, 'empty'); td.colSpan = byId(id).tHead.rows[0].cells.length;
          }
          body.replaceWith(fresh);
        };
        const time = ms => new Date(ms).toLocaleTimeString([], { hour12: false }) + '.' + String(ms % 1000).padStart(3, '0');
        const ask = async path => {
          const answer = await fetch(path, { headers: { accept: 'application/json' } });
          if (answer.status === 404) return null;
          const json = await answer.json();
          if (!answer.ok) throw new Error(json.error ?? answer.statusText);
          return json;
        };
        const answerOf = entry =>
          entry.withdrawn ? ['not processed', 'none']
          : entry.status === undefined ? [entry.accepted ? 'none, accepted' : 'none', 'none']
          : [entry.status + (entry.reason ? ' ' + entry.reason : '') + (entry.answered ? '' : ' (on its way)'),
             entry.status === 200 ? 'good' : 'bad'];
        const short = value => JSON.stringify(value ?? {}).replace(/["{}]/g, '').replace(/[,:]/g, '$& ') || 'always';
        const draw = async () => {
          const token = byId('token').value.trim();
          const wanted = /^([0-9a-f]{2})+$/i.test(token) ? '&token=' + token : '';
          const [status, summary, ledger, rules, connections, play] = await Promise.all([
            ask('/status'), ask('/ledger/summary'), ask('/ledger?limit=50' + wanted), ask('/rules'),
            ask('/connections?limit=20'), ask('/scenario')]);
          byId('state').textContent = `${status.environment}, port ${status.port}, ${status.connections} open`
            + (status.clock_scale === 1 ? '' : `, clock × ${status.clock_scale}`)
            + (status.listens ? '' : ', refuses connections');
          const numbers = [['Requests', summary.requests], ['Accepted', summary.accepted], ['Answered', summary.answered],
            ['Duplicates', summary.duplicates], ['Not processed', summary.withdrawn], ['Sent after 410', summary.after_gone],
            ['Tokens', summary.tokens], ['Connections', `${summary.connections_open} of ${summary.connections_opened}`],
            ...summary.verdicts.filter(v => v.status !== 200).map(v => [v.status ? `${v.status} ${v.reason ?? ''}` : 'No answer', v.count])];
          byId('numbers').replaceChildren(...numbers.map(([name, value]) => {
            const box = document.createElement('div'), dt = document.createElement('dt'), dd = document.createElement('dd');
            dt.textContent = name; dd.textContent = value.toLocaleString(); box.append(dt, dd); return box;
          }));
          fill('rules', rules.rules, 'None: it behaves.', (row, rule) => {
            cell(row, rule.id); cell(row, rule.hits, 'number'); cell(row, short(rule.match)); cell(row, short(rule.action));
          });
          fill('requests', ledger.entries, wanted ? 'None to this token.' : 'None yet.', (row, entry) => {
            const [text, kind] = answerOf(entry);
            cell(row, time(entry.arrival)); cell(row, text, kind);
            cell(row, entry.token, 'token');
            cell(row, entry.topic); cell(row, entry.push_type); cell(row, entry.body_bytes, 'number');
            cell(row, entry.connection, 'number'); cell(row, entry.rule);
          });
          fill('connections', connections.connections.reverse(), 'None yet.', (row, connection) => {
            cell(row, connection.number, 'number'); cell(row, connection.closed_at ? 'no' : 'yes');
            cell(row, connection.key_id ?? connection.team); cell(row, connection.requests, 'number');
            cell(row, connection.accepted, 'number'); cell(row, connection.peak_open_requests, 'number');
            cell(row, connection.stream_limit, 'number'); cell(row, connection.ending);
          });
          byId('play').hidden = !play;
          if (play) {
            byId('play-text').textContent = play.description + (play.is_over ? ' (over)' : play.has_begun ? '' : ' (waits to begin)');
            byId('play-steps').replaceChildren(...play.steps.map(step => {
              const li = document.createElement('li'); li.className = step.done ? 'done' : '';
              li.textContent = `${step.when}: ${step.orders.join(', ')}` + (step.done ? ` (done${step.done > 1 ? ' × ' + step.done : ''})` : '');
              return li;
            }));
          }
        };
        let busy = false;
        const turn = async () => {
          if (busy || !byId('live').checked || document.hidden) return;
          busy = true;
          try { await draw(); document.body.classList.remove('stale'); }
          catch (error) { byId('state').textContent = 'No answer: ' + error.message; document.body.classList.add('stale'); }
          busy = false;
        };
        byId('filter').addEventListener('submit', event => { event.preventDefault(); turn(); });
        byId('token').addEventListener('input', turn);
        byId('live').addEventListener('change', turn);
        document.addEventListener('visibilitychange', turn);
        setInterval(turn, 1000);
        turn();

        """
}

extension ControlRoutes {
    func addPage(to router: Router<BasicRequestContext>) {
        router.get("/") { request, _ in
            try Query(request).end()
            var headers: HTTPFields = [.contentType: "text/html; charset=utf-8", .cacheControl: "no-store"]
            headers[.contentSecurityPolicy] = ControlPage.policy
            headers[.xContentTypeOptions] = "nosniff"
            return Response(
                status: .ok,
                headers: headers,
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: ControlPage.document))
            )
        }
    }
}
