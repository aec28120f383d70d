import { findSlotProblems } from '../../../src/frontier/index.ts';
import { identifyUrl } from '../../../src/url/index.ts';
import { hashOf, type Known, listedIn, loadBalances, loadKnown } from '../../e2e/crawl-state.ts';
import type { AccessRecord, ArticleTruth } from '../../web/index.ts';
import { type Ground, lifeOf } from './ground.ts';

/** (1) Every address that was submitted, listed or requested has its row, and ended as it should or waits for its retry. */
export async function checkNoneLost(ground: Ground): Promise<string[]> {
  const { db, producer, truth } = ground;
  const known = await loadKnown(db);
  const channels = await db.query<{ url: string; hasDates: boolean }>(
    `SELECT c.url, c.kind <> 'sitemap' OR s.last_item_at IS NOT NULL AS "hasDates"
       FROM channels c JOIN channel_state s ON s.channel_id = c.id WHERE s.last_success_at > $1`,
    [ground.calmSince],
  );
  // A domain that refused us, or whose robots.txt could not be had, rests: its rows wait with it.
  const resting = await db.query<{ hash: string }>(
    `SELECT encode(f.url_hash, 'hex') AS hash FROM url_frontier f JOIN domain_slots s USING (bucket, domain_key)
      WHERE f.status = 'pending' AND s.next_at > now()`,
  );
  const waits = new Set(resting.rows.map((row) => row.hash));
  const problems: string[] = [];
  for (const url of producer.accepted)
    if (!known.has(hashOf(url))) problems.push(`${url} was accepted by the API and has no row`);
  const urlsOf = (hasDates: boolean): Set<string> =>
    new Set(channels.rows.filter((row) => row.hasDates === hasDates).map((row) => row.url));
  const listed = [
    ...listedIn(truth, urlsOf(true)),
    ...truth.flatMap((publisher) => newest(listedIn([publisher], urlsOf(false)))),
  ];
  for (const { url, expected } of listed) {
    const row = known.get(hashOf(url));
    if (row === undefined) problems.push(`${url} is listed and has no row`);
    else if (!endsWell(row, expected.outcome) && !waits.has(hashOf(url)))
      problems.push(`${url} is ${row.status} ${row.reason ?? ''}, expected ${expected.outcome}`);
  }
  for (const url of requestedArticles(ground)) {
    const identified = identifyUrl(url);
    if (identified.outcome === 'ok' && !known.has(identified.identity.hash.toString('hex')))
      problems.push(`${url} was requested and has no row`);
  }
  return problems;
}

// Of a sitemap without dates the first poll takes so many; who was kept from it for long finds more there.
const firstTaken = 100;
const newest = (articles: readonly ArticleTruth[]): ArticleTruth[] =>
  articles.toSorted((a, b) => b.publishedMs - a.publishedMs).slice(0, firstTaken);

const ends: Record<string, readonly string[]> = {
  document: ['fetched', 'duplicate'],
  duplicate: ['fetched', 'duplicate'],
  dead: ['dead'],
  redirected: ['redirected', 'dead'],
  robots_blocked: ['dead'],
  needs_render: ['needs_render'],
};

/** What waits for its next try is not lost, and whoever held an address three times and died was to blame it. */
const endsWell = (row: Known, expected: string): boolean =>
  row.status === 'failed' || row.reason === 'crash_loop' || ends[expected]!.includes(row.status);

function requestedArticles({ truth, log }: Ground): Set<string> {
  const articles = new Set(truth.flatMap((one) => one.articles.map((article) => article.url)));
  return new Set(log.map(({ host, path }) => `http://${host}${path}`).filter((url) => articles.has(url)));
}

/** (10) Counters say what the rows, the documents and the web's own log say. */
export async function checkCounters(ground: Ground): Promise<string[]> {
  const { stage, db, log } = ground;
  const problems = (await loadBalances(db))
    .filter(([, one, other]) => one !== other)
    .map(([what, one, other]) => `${what}: ${one} and ${other}`);
  for (const { domainKey, problem, said, true: truly } of await findSlotProblems(db))
    problems.push(`slot ${domainKey}: ${problem} is ${said}, should be ${truly}`);
  // A request that timed out half way has no status, and the web may have seen it whole.
  const { rows } = await db.query<{ url: string; answered: number; all: number }>(
    `SELECT url, count(status)::integer AS answered, count(*)::integer AS all FROM crawl_log GROUP BY url`,
  );
  const logged = new Map(rows.map((row) => [row.url, row.all]));
  // The web has seen whatever is in the crawl log, and polls that came since besides.
  const asked = byUrl(stage.web.log.read());
  for (const { url, answered: requests } of rows) {
    const seen = asked.get(url)?.length ?? 0;
    if (seen < requests) problems.push(`${url}: ${requests} requests in the crawl log, the web saw ${seen}`);
  }
  for (const [url, records] of byUrl(log)) {
    const whole = records.filter((one) => one.headersSentAtMs >= 0 && !one.aborted);
    const unexplained = whole.filter((one) => !stage.ledger.explains(lifeOf(one), one.startedAtMs));
    const excused = whole.length - unexplained.length;
    if (whole.length - (logged.get(url) ?? 0) > excused)
      problems.push(
        `${url}: the web saw ${whole.length} requests, the crawl log has ${logged.get(url) ?? 0}`,
      );
  }
  return problems;
}

/** (11) No article is asked for twice, but after a lost lease or for a retry that was counted. */
export async function checkNoRepeats(ground: Ground): Promise<string[]> {
  const { stage, db, truth, log } = ground;
  const articles = new Set(
    truth.flatMap((one) =>
      one.articles.filter((article) => article.expected.outcome === 'document').map((article) => article.url),
    ),
  );
  const answered = byUrl(
    log.filter(({ status, aborted, method }) => status === 200 && !aborted && method === 'GET'),
  );
  const retried = await db.query<{ url: string; failures: number }>(
    `SELECT url, count(*)::integer AS failures FROM crawl_log WHERE outcome NOT IN ('ok', 'fetched') GROUP BY url`,
  );
  const failures = new Map(retried.rows.map((row) => [row.url, row.failures]));
  return [...answered].flatMap(([url, requests]) => {
    if (!articles.has(url)) return [];
    const lost = requests.filter((one) => stage.ledger.explains(lifeOf(one), one.startedAtMs)).length;
    const allowed = Math.max(1, lost + 1) + (failures.get(url) ?? 0);
    if (requests.length <= allowed || requests.length === 1) return [];
    const who = requests.map((one) => `${lifeOf(one)} at ${Math.round(one.startedAtMs)}`).join(', ');
    return [`${url} was asked for ${requests.length} times: ${who}`];
  });
}

function byUrl(records: readonly AccessRecord[]): Map<string, AccessRecord[]> {
  const found = new Map<string, AccessRecord[]>();
  for (const record of records) {
    const url = `http://${record.host}${record.path}`;
    const known = found.get(url);
    if (known === undefined) found.set(url, [record]);
    else known.push(record);
  }
  return found;
}
