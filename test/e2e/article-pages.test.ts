import { afterAll, beforeAll, expect, test } from 'vitest';
import { Lab, plain } from '../fetch/lab.ts';
import { findPolitenessViolations } from '../web/index.ts';
import { waitUntil } from './wait.ts';

// Articles that go on on other pages, in feeds that name only the first.
const parts = { harbor: 3, meadow: 2, valley: 3, summit: 3 } as const;
let lab: Lab;

beforeAll(async () => {
  lab = await Lab.open({
    publishers: [
      plain('harbor', [], { articleParts: parts.harbor, urlStyle: 'section' }),
      plain('meadow', [], { articleParts: parts.meadow, urlStyle: 'slash', layout: 4 }),
      plain('valley', [], { articleParts: parts.valley, urlStyle: 'slash' }),
      plain('summit', [], { articleParts: parts.summit, urlStyle: 'query' }),
      plain('brook', [], { articleParts: 2, urlStyle: 'slash', backlog: 2 }),
      plain('sigterm', [], { articleParts: 3, urlStyle: 'section', backlog: 3 }),
      plain('sigkill', [], { articleParts: 3, urlStyle: 'section', backlog: 3 }),
    ],
    env: { OUTRIDER_FETCH_LEASE_SECONDS: '5' },
  });
});
afterAll(() => lab?.close());

type Stored = { url: string; text: string; version: number; pages: string | null };

const stored = async (name: string): Promise<Stored[]> => {
  const result = await lab.database.pool.query<Stored>(
    `SELECT url, text, version, meta #>> '{evidence,pages}' AS pages FROM documents WHERE url LIKE $1 ORDER BY url`,
    [`http://${name}.test/%`],
  );
  return result.rows;
};
const truthOf = (name: string): Map<string, string> =>
  new Map(lab.web.groundTruth(`${name}.test`)[0]!.articles.map(({ url, text }) => [url, text]));

test('an article over several pages is one document with all of them', async () => {
  for (const name of Object.keys(parts)) await lab.follow(name, 'feed');
  await lab.database.pool.query(
    `UPDATE sources SET settings = settings || '{"pages": "first"}' WHERE name LIKE 'summit%'`,
  );
  const fetcher = lab.start();
  await lab.idle();
  for (const name of ['harbor', 'meadow', 'valley'] as const) {
    const truth = truthOf(name);
    const documents = await stored(name);
    expect(documents.map(({ url }) => url)).toEqual([...truth.keys()].sort());
    for (const { url, text } of documents) expect([url, text]).toEqual([url, truth.get(url)]);
    // A short one goes over fewer.
    expect(documents.some(({ pages }) => pages === String(parts[name]))).toBe(true);
  }
  const first = await stored('summit');
  expect(first).toHaveLength(6);
  for (const { url, text, pages } of first) {
    expect(truthOf('summit').get(url)!.startsWith(text)).toBe(true);
    expect([url, pages]).toEqual([url, null]);
  }
  const log = lab.web.log.read();
  expect(log.filter(({ path }) => /[?&]page=/.test(path) && path.includes('article.php'))).toEqual([]);
  expect(findPolitenessViolations(log, { delayMs: () => 50 })).toEqual([]);
  await fetcher.stop('SIGTERM');
});

test.each(['SIGTERM', 'SIGKILL'] as const)(
  '%s in the middle of an article loses nothing',
  async (signal) => {
    const name = signal.toLowerCase();
    const truth = truthOf(name);
    for (const url of truth.keys()) await lab.ask(url);
    const slow = lab.start({ OUTRIDER_FETCH_DEFAULT_DELAY_MS: '1500' });
    const second = () => lab.requests(name).some(({ path }) => path.includes('page=2'));
    await waitUntil('a second page was asked for', second);
    await slow.stop(signal);
    // Who is asked to end ends what it reads; nobody leaves a part of it.
    for (const { url, text } of await stored(name)) expect([url, text]).toEqual([url, truth.get(url)]);
    const other = lab.start();
    await lab.idle();
    const documents = await stored(name);
    expect(new Map(documents.map(({ url, text }) => [url, text]))).toEqual(truth);
    await other.stop('SIGTERM');
  },
  120_000,
);

test('a page that does not come now is tried again, and never shortens what is known', async () => {
  const [url, text] = [...truthOf('brook')].find(([, whole]) => whole.split('\n\n').length >= 4)!;
  const away = {
    name: 'status',
    pathPrefix: `${new URL(url).pathname}2/`,
    on: ['article'],
    options: { status: 500 },
  } as const;
  lab.web.setFault('brook.test', away);
  const fetcher = lab.start();
  await lab.ask(url);
  await lab.idle();
  expect(await lab.row(url)).toMatchObject({
    status: 'failed',
    code: 'http_500',
    text: 'a further page of the article: the server answered 500',
    tries: 1,
    documents: 0,
  });
  lab.web.clearFault({ domain: 'brook.test' });
  await lab.hurry(['brook.test']);
  await lab.idle();
  expect((await stored('brook')).map((one) => [one.url, one.text, one.pages])).toEqual([[url, text, '2']]);
  // Read anew while its second page is away to the last try.
  lab.web.setFault('brook.test', away);
  await lab.database.pool.query(`UPDATE url_frontier SET etag = NULL, last_modified = NULL WHERE url = $1`, [
    url,
  ]);
  await lab.ask(url);
  for (let tries = 0; tries < 3; tries += 1) {
    await lab.hurry(['brook.test']);
    await lab.idle();
  }
  expect(await lab.row(url)).toMatchObject({ status: 'fetched', tries: 0, etag: null });
  expect(await stored('brook')).toMatchObject([{ url, text, version: 1 }]);
  await fetcher.stop('SIGTERM');
}, 120_000);
