import { afterAll, beforeAll, expect, it } from 'vitest';
import { blockDomain, keyOfDomain, resetDomain, saveRobots, testRobots } from '../../src/domains/index.ts';
import { describeUrl, loadUrlFacts } from '../../src/explain/index.ts';
import { identifyKnown, saveHostRules, saveWorker } from '../../src/frontier/index.ts';
import { parseRobots } from '../../src/robots/index.ts';
import { createSource, setSourceEnabled } from '../../src/sources/index.ts';
import { saveSwitch } from '../../src/switches/index.ts';
import { channelHash, domainIdentity, identifyUrl, type UrlIdentity } from '../../src/url/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { answers, done, finish, item, take } from './fixtures.ts';

// explain on every state a URL can be in, through the real functions, read as a person would.
let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

function identityOf(url: string): UrlIdentity {
  const identified = identifyUrl(url);
  if (identified.outcome === 'rejected') throw new Error(identified.reason);
  return identified.identity;
}

async function explain(url: string): Promise<{ state: string; text: string; expected: boolean }> {
  const facts = await loadUrlFacts(test.pool, identityOf(url), {
    defaultDelayMs: 1000,
    productToken: 'Outrider',
  });
  const { state, sentences, expectedAt } = describeUrl(facts);
  return { state, text: sentences.join(' '), expected: expectedAt !== null };
}

it('an unknown URL', async () => {
  expect(await explain('https://nowhere.test/x')).toEqual({
    state: 'unknown',
    text: 'This URL was never submitted.',
    expected: false,
  });
});

it('a waiting URL, with nobody to fetch it and then with somebody', async () => {
  await answers(test.db, [
    ...Array.from({ length: 3 }, (_, n) => item('wait.test', `first-${n}`, { priority: 9 })),
    item('wait.test', 'me', { priority: 4, sourceId: null, origin: 'manual' }),
  ]);
  const alone = await explain('https://wait.test/me');
  expect(alone.state).toBe('waiting');
  expect(alone.text).toMatch(/^An article discovered \d+ s ago by manual\./);
  expect(alone.text).toContain('No fetcher is running: start one with "outrider up".');
  expect(alone.text).toContain('3 URLs of the domain go first.');
  expect(alone.expected).toBe(false);
  await saveWorker(test.pool, {
    id: 'f1',
    role: 'fetch',
    pool: 'default',
    version: '0',
    host: 'h',
    pid: 1,
    state: {},
  });
  const crewed = await explain('https://wait.test/me');
  expect(crewed.text).toMatch(/Expected about in 3 s, at one request every 1 s\.$/);
});

it('a URL of a domain with rules of its own', async () => {
  await answers(test.db, [item('own.test', 'old/')]);
  const [held] = await take(test.db, { owner: 'w1', slots: 100 });
  await finish(test.db, held!, { items: held!.urls.map(({ hash }) => done(hash)) });
  const key = domainIdentity('own.test');
  await saveHostRules(test.pool, key, {
    keepTrailingSlash: true,
    keepParameters: ['page', 'ref'],
    stripParameters: ['sid'],
  });
  await answers(test.db, [item('own.test', 'new/?ref=1&page=2&sid=3')]);
  const told = async (path: string) => {
    const identified = await identifyKnown(test.pool, `https://own.test/${path}`);
    if (identified.outcome === 'rejected') throw new Error(identified.reason);
    const facts = await loadUrlFacts(test.pool, identified.identity, {
      defaultDelayMs: 1000,
      productToken: 'Outrider',
    });
    return describeUrl(facts).sentences.join(' ');
  };
  expect(await told('new/?page=2&ref=1')).toContain(
    'It keeps its parameters page and ref and the slash at its end and is the same page without its parameter sid, by the host rules of this domain.',
  );
  expect(await told('old/')).toContain(
    'Its key is older than the host rules of this domain: what was fetched before keeps it, what waits gets a new one.',
  );
  expect(await told('else?x=1')).toBe('This URL was never submitted.');
});

it('a URL being fetched, and one behind it in a leased domain', async () => {
  await answers(test.db, [
    item('busy.test', 'now', { priority: 9 }),
    item('busy.test', 'later', { priority: 2 }),
  ]);
  const leases = await take(test.db, { owner: 'worker-7', slots: 100 });
  expect((await explain('https://busy.test/now')).text).toContain(
    'It is in the batch that worker-7 is fetching right now.',
  );
  expect((await explain('https://busy.test/later')).text).toContain(
    'Its domain is being worked on by worker-7',
  );
  for (const held of leases) await finish(test.db, held, { owner: 'worker-7' });
  expect((await explain('https://busy.test/now')).text).toMatch(
    /Its domain may be asked again in \d s \(the gap between two requests\)/,
  );
});

it.each([
  ['fetched', {}, /It was fetched \d+ s ago/],
  [
    'dead',
    { status: 'dead', errorCode: 'robots_blocked', errorText: 'line 4: Disallow: /x' },
    /given up: robots\.txt forbids it \(line 4: Disallow: \/x\)\./,
  ],
  [
    'dead',
    { status: 'dead', errorCode: 'crash_loop' },
    /given up: it ended the worker three times in a row\./,
  ],
  [
    'redirected',
    { status: 'redirected', redirectedTo: 'https://else.test/' },
    /redirects to https:\/\/else\.test\//,
  ],
  [
    'needs_render',
    { status: 'needs_render', errorCode: 'needs_javascript' },
    /waits for a rendering fetcher/,
  ],
  [
    'waits for its retry',
    {
      status: 'failed',
      errorCode: 'http_500',
      errorText: 'the server answered 500',
      tries: 2,
      dueInMs: 300_000,
    },
    /2 tries have failed, the last with http_500 \(the server answered 500\)\. The next try is due in 5 min\./,
  ],
] as const)('a %s URL', async (state, change, words) => {
  const host = `s${Math.abs(JSON.stringify(change).length)}.test`;
  await answers(test.db, [item(host, 'x')]);
  for (const held of await take(test.db, { slots: 100 })) {
    const items = held.urls.filter((url) => url.url.includes(host)).map((url) => done(url.hash, change));
    await finish(test.db, held, { items });
  }
  const answer = await explain(`https://${host}/x`);
  expect(answer.state).toBe(state);
  expect(answer.text).toMatch(words);
});

it('a URL that robots.txt will stop, with the line', async () => {
  const identity = identityOf('https://robots.test/private/x');
  await answers(test.db, [item('robots.test', 'private/x')]);
  await saveRobots(
    test.pool,
    { bucket: identity.bucket, domainKey: identity.domainKey, origin: 'https://robots.test' },
    {
      outcome: 'rules',
      httpStatus: 200,
      errorCode: null,
      rules: parseRobots(Buffer.from('User-agent: *\nDisallow: /private/\n')),
      ttlMs: 1000,
    },
  );
  expect((await explain('https://robots.test/private/x')).text).toMatch(
    /robots\.txt forbids it \(line 2: .*\/private\/\)/,
  );
});

it('a URL whose robots.txt could not be read, or was missing when it last could', async () => {
  await answers(test.db, [item('unread.test', 'x')]);
  const key = { ...identityOf('https://unread.test/x'), origin: 'https://unread.test' };
  const away = {
    outcome: 'unavailable',
    httpStatus: 500,
    errorCode: null,
    rules: null,
    ttlMs: 60_000,
  } as const;
  await saveRobots(test.pool, key, away);
  const { text } = await explain('https://unread.test/x');
  expect(text).toContain('robots.txt of its host could not be read; nothing is requested until it can.');
  expect(text).not.toContain('forbids');
  expect((await explain('https://unread.test/never')).text).toBe('This URL was never submitted.');
  expect(await testRobots(test.pool, key, 'Outrider')).toMatchObject({ outcome: 'unavailable' });
  // It was missing yesterday, which allows all for as long as a good copy serves.
  await saveRobots(test.pool, key, { ...away, outcome: 'allow_all', httpStatus: 404 });
  await saveRobots(test.pool, key, away);
  expect((await explain('https://unread.test/x')).text).not.toContain('robots.txt');
  expect(await testRobots(test.pool, key, 'Outrider')).toMatchObject({ outcome: 'allowed' });
});

it('what robots.txt forbids where that means something else', async () => {
  const { source } = await createSource(test.pool, {
    url: 'https://asked.test/',
    mode: 'feed',
    settings: { respectRobots: false },
  });
  await answers(test.db, [
    item('asked.test', 'x', { sourceId: source.id }),
    item('asked.test', 'feed', { kind: 'channel', sourceId: null }),
  ]);
  await saveRobots(
    test.pool,
    { ...identityOf('https://asked.test/x'), origin: 'https://asked.test' },
    {
      outcome: 'rules',
      httpStatus: 200,
      errorCode: null,
      rules: parseRobots(Buffer.from('User-agent: *\nDisallow: /\n')),
      ttlMs: 60_000,
    },
  );
  expect((await explain('https://asked.test/x')).text).toContain(
    'robots.txt forbids it (line 2: Disallow: /), which its source is set not to follow.',
  );
  const url = identityOf('https://asked.test/feed');
  const facts = await loadUrlFacts(test.pool, url, {
    hash: channelHash(url.fetchUrl),
    defaultDelayMs: 1000,
    productToken: 'Outrider',
  });
  expect(describeUrl(facts).sentences.join(' ')).toContain(
    'robots.txt forbids it (line 2: Disallow: /); its poll will fail.',
  );
});

it('what is switched off, held or blocked for good is not to be expected', async () => {
  const { source } = await createSource(test.pool, { url: 'https://later.test/' });
  const own = { sourceId: source.id };
  await answers(test.db, [item('later.test', 'one', own), item('later.test', 'two', own)]);
  const leases = await take(test.db, { slots: 100 });
  const lease = leases.find(({ urls }) => urls.some(({ url }) => url.includes('later.test')));
  const [one, two] = lease!.urls;
  await finish(test.db, lease!, {
    items: [one!, two!].map(({ hash }) => done(hash, { dueInMs: 86_400_000 })),
  });
  await test.pool.query(
    `UPDATE url_frontier SET status = 'duplicate', duplicate_of = $1, due_at = now() + interval '1 day' WHERE url_hash = $2`,
    [one!.hash, two!.hash],
  );
  const soon = new Date(Date.now() + 3_600_000);
  await answers(test.db, [item('later.test', 'three', { ...own, dueAt: soon })]);
  const copy = identityOf(two!.url).fetchUrl;
  expect((await explain(one!.url)).expected).toBe(true);
  expect((await explain(copy)).text).toContain('It is looked at once more in 24 h');
  expect((await explain('https://later.test/three')).expected).toBe(true);

  await saveSwitch(test.pool, 'refresh', false, 'test');
  await saveSwitch(test.pool, 'fetching', false, 'test');
  expect((await explain(one!.url)).expected).toBe(false);
  const off = await explain('https://later.test/three');
  expect(off.text).toContain('"outrider switch fetching on"');
  expect(off.expected).toBe(false);
  for (const name of ['refresh', 'fetching'] as const) await saveSwitch(test.pool, name, true, 'test');

  const domain = keyOfDomain('later.test')!;
  await blockDomain(test.pool, domain, { reason: 'spam', actor: 'test' });
  const blocked = await explain('https://later.test/three');
  expect(blocked.text).toContain('It stays so until somebody resets it');
  expect(blocked.expected).toBe(false);
  await resetDomain(test.pool, domain, { reason: 'a mistake', actor: 'test' });

  await setSourceEnabled(test.pool, source.slug, false, { actor: 'test', reason: 'later' });
  const held = await explain(copy);
  expect(held.text).toContain('It is not looked at again while its source is disabled or not polled');
  expect(held.text).not.toMatch(/\d{4,} days/);
  expect(held.expected).toBe(false);
});
