import { afterAll, beforeAll, expect, test } from 'vitest';
import { createChannel } from '../../src/channels/index.ts';
import { pruneChanges } from '../../src/documents/index.ts';
import { submit } from '../../src/frontier/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { idOf, storeDocuments, textOf } from '../sinks/store.ts';
import { createChecked, hostileTexts, hostileValues } from './checked.ts';
import { type ApiLab, startApiLab } from './lab.ts';

let lab: ApiLab;
let sourceId: number;
beforeAll(async () => {
  lab = await startApiLab();
  // From here on every answer is held against its description.
  lab = { ...lab, ask: await createChecked(lab) };
  const { source } = await createSource(lab.database.pool, {
    url: 'https://herald.example/',
    name: 'Herald',
  });
  sourceId = source.id;
  await storeDocuments(lab.database.pool, [
    {
      url: 'https://herald.example/ferry',
      sourceId,
      title: 'The ferry sails again',
      text: `The ferry crossed the strait. ${textOf('ferry')}`,
      publishedAt: new Date('2026-10-01T08:00:00Z'),
    },
    {
      url: 'https://herald.example/bridge',
      sourceId,
      title: 'A bridge',
      text: `People would rather have a bridge than a ferry. ${textOf('bridge')}`,
      publishedAt: new Date('2026-11-01T08:00:00Z'),
    },
    {
      url: 'https://bote.example/faehren',
      title: 'Neue Fähren',
      text: `Die Häfen bekommen neue Fähren, sagt der Minister. ${textOf('faehren')}`,
      language: 'de',
      publishedAt: null,
    },
  ]);
  await lab.index();
});
afterAll(() => lab.close());

const search = async (query: string): Promise<string[]> => {
  const { status, body } = await lab.ask('GET', `/api/v1/documents?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.items.map((item: { url: string }) => item.url);
};
const ferry = 'https://herald.example/ferry';
const bridge = 'https://herald.example/bridge';
const faehren = 'https://bote.example/faehren';

test('a search finds words and their other forms, the title first, with the passage', async () => {
  expect(await search('q=ferry')).toEqual([ferry, bridge]);
  expect(await search('q=ferries')).toEqual([ferry, bridge]);
  expect(await search('q=%22crossed+the+strait%22')).toEqual([ferry]);
  expect(await search('q=ferry+-bridge')).toEqual([ferry]);
  expect(await search('q=ferry+-%22strait+crossed%22')).toEqual([ferry, bridge]);
  expect(await search('q=%22strait+crossed%22')).toEqual([]);
  expect(await search('q=nothingofthekind')).toEqual([]);
  const { body } = await lab.ask('GET', '/api/v1/documents?q=bridge');
  expect(body.items[0].snippet).toContain('«bridge»');
});

test('quotation marks of a text are not taken for marks of a match', async () => {
  const url = 'https://gazette.example/bac';
  await storeDocuments(lab.database.pool, [
    { url, title: 'Le bac', text: `« Le bac repart », dit le capitaine du chaland. ${textOf(url)}` },
  ]);
  await lab.index();
  const { body } = await lab.ask('GET', '/api/v1/documents?q=chaland');
  expect(body.items[0].snippet).toContain('repart ”, dit le capitaine du «chaland»');
});

test('a search is narrowed by source, domain, language and date', async () => {
  expect(await search('q=ferry&source=herald')).toEqual([ferry, bridge]);
  expect(await search('q=ferry&domain=bote.example')).toEqual([]);
  expect(await search('q=Fähre&language=de')).toEqual([faehren]);
  expect(await search('q=hafen&language=de')).toEqual([faehren]);
  expect(await search('q=ferry&language=de')).toEqual([]);
  expect(await search('q=ferry&since=2026-10-15')).toEqual([bridge]);
  expect(await search('q=ferry&until=2026-10-15T00:00:00Z')).toEqual([ferry]);
  expect((await search('domain=www.herald.example')).sort()).toEqual([bridge, ferry]);
  // Without a date of its own a document counts by when it was crawled.
  expect(await search('since=2026-11-02&domain=bote.example')).toEqual([faehren]);
});

test('a language is found by its code, with its region and in both forms of Norwegian', async () => {
  const norwegian = 'https://avis.example/ferger';
  const filipino = 'https://dyaryo.example/bangka';
  await storeDocuments(lab.database.pool, [
    { url: norwegian, title: 'Ferger', text: `Byen får nye ferger. ${textOf('ferger')}`, language: 'nb-NO' },
    { url: filipino, title: 'Bangka', text: `May bagong bangka. ${textOf('bangka')}`, language: 'fil' },
  ]);
  await lab.index();
  for (const code of ['no', 'nb', 'nn'])
    expect(await search(`q=ferge&language=${code}`)).toEqual([norwegian]);
  expect(await search('q=bangka&language=fil')).toEqual([filipino]);
  expect(await search('language=fi')).toEqual([]);
});

test('what nobody can read is refused with what is wrong', async () => {
  for (const query of ['since=yesterday', 'language=german', 'limit=0', 'q=', 'order=title'])
    expect((await lab.ask('GET', `/api/v1/documents?${query}`)).status, query).toBe(400);
  expect(await lab.ask('GET', '/api/v1/documents?source=nobody')).toMatchObject({
    status: 404,
    body: { code: 'source_unknown' },
  });
  expect((await lab.ask('GET', `/api/v1/documents/${'0'.repeat(16)}-${'0'.repeat(64)}`)).status).toBe(404);
  expect((await lab.ask('GET', '/api/v1/documents/anything')).status).toBe(404);
  expect((await lab.ask('GET', '/api/v1/documents/changes?after=-1')).status).toBe(400);
});

test('a document can be read whole', async () => {
  const { body } = await lab.ask('GET', `/api/v1/documents/${idOf(ferry)}`);
  expect(body).toMatchObject({
    id: idOf(ferry),
    version: 1,
    source: 'herald',
    authors: ['Ada Writer'],
  });
  expect(body.text).toMatch(/^The ferry crossed/);
  expect(body.versions).toMatchObject([{ version: 1, title: 'The ferry sails again' }]);
  expect(body.sightings).toMatchObject([{ sourceId, origin: 'redirect' }]);
});

test('lists and searches are read a page at a time, each document once', async () => {
  const pages = async (query: string): Promise<string[][]> => {
    const read: string[][] = [];
    let cursor: string | null = null;
    do {
      const { body }: { body: { items: { url: string }[]; cursor: string | null } } = await lab.ask(
        'GET',
        `/api/v1/documents?limit=2&${query}${cursor === null ? '' : `&cursor=${cursor}`}`,
      );
      read.push(body.items.map((item) => item.url));
      cursor = body.cursor;
    } while (cursor !== null);
    return read;
  };
  const all = await search('limit=1000');
  expect((await pages('')).flat()).toEqual(all);
  expect((await pages('since=2000-01-01')).flat()).toEqual(all);
  const found = await search('q=sentence&limit=1000');
  expect(found.length).toBeGreaterThan(2);
  expect((await pages('q=sentence')).flat()).toEqual(found);
  expect(await pages('q=ferry')).toEqual([[ferry, bridge]]);
  for (const cursor of ['x', '1.2', `1.${'0'.repeat(16)}-${'0'.repeat(63)}`, '%00'])
    for (const query of ['', '&q=ferry'])
      expect(await lab.ask('GET', `/api/v1/documents?cursor=${cursor}${query}`), cursor).toMatchObject({
        status: 400,
        body: { code: 'cursor_invalid' },
      });
});

test('a document tells where it came from, what its fields were taken from, and which copies are exact', async () => {
  const { pool } = lab.database;
  const feed = 'https://wire.example/feed.xml';
  const { source } = await createSource(pool, { url: 'https://wire.example/', name: 'Wire' });
  const { channel } = await createChannel(pool, {
    sourceId: source.id,
    kind: 'feed',
    url: feed,
    intervalSeconds: 900,
    foundBy: 'link',
  });
  const url = 'https://wire.example/strike';
  const text = Array.from(
    { length: 30 },
    (_, n) => `The dockers of pier ${n} have voted for a strike, and the owners of ship ${n * 7} wait.`,
  );
  const base = { kind: 'article', origin: 'feed', priority: 5, own: true } as const;
  await submit(pool, [{ ...base, url, sourceId: source.id, parentUrl: feed }]);
  const evidence = { publishedAt: 'meta article:published_time' };
  await storeDocuments(pool, [
    { url, sourceId: source.id, text: text.join(' '), meta: { evidence } },
    { url: 'https://exact.example/strike', text: text.join(' ') },
    { url: 'https://near.example/strike', text: `${text.join(' ')} More soon.` },
  ]);
  await lab.index();
  const { body } = await lab.ask('GET', `/api/v1/documents/${idOf(url)}`);
  expect(body).toMatchObject({ source: 'wire', source_name: 'Wire', confidence: 1, meta: { evidence } });
  expect(body.sightings).toMatchObject([
    { source: 'wire', sourceName: 'Wire', origin: 'feed', parentUrl: feed, channelId: channel.id },
  ]);
  expect(body.copyCount).toBe(3);
  const exact = Object.fromEntries(
    body.copies.map((copy: { url: string; exact: boolean }) => [new URL(copy.url).host, copy.exact]),
  );
  expect(exact).toEqual({ 'wire.example': true, 'exact.example': true, 'near.example': false });
});

test('the change feed tells everything once, in pages, and of verdicts', async () => {
  const first = (await lab.ask('GET', '/api/v1/documents/changes?limit=2')).body;
  expect(first.more).toBe(true);
  const second = (await lab.ask('GET', `/api/v1/documents/changes?after=${first.next}`)).body;
  expect([...first.items, ...second.items].map((item) => item.document.url).sort()).toEqual(
    (await search('limit=1000')).sort(),
  );
  expect(second.more).toBe(false);
  const after = second.next as string;
  expect((await lab.ask('GET', `/api/v1/documents/changes?after=${after}`)).body).toEqual({
    items: [],
    next: after,
    more: false,
  });
  const labels = { topic: 'ships', sure: 0.9, also: ['sea', 'trade'] };
  const verdict = { version: 1, status: 'classified', labels };
  expect((await lab.ask('PATCH', `/api/v1/documents/${idOf(ferry)}/classification`, verdict)).status).toBe(
    200,
  );
  await lab.index();
  const judged = (await lab.ask('GET', `/api/v1/documents/changes?after=${after}&status=classified`)).body;
  expect(judged.items).toHaveLength(1);
  expect(judged.items[0].document).toMatchObject({ url: ferry, classification_status: 'classified', labels });
  // Who asks for what is still to be judged does not hear of it, and passes it by.
  const pending = (await lab.ask('GET', `/api/v1/documents/changes?after=${after}&status=pending`)).body;
  expect(pending).toEqual({ items: [], next: judged.next, more: false });
  expect((await lab.ask('GET', '/api/v1/documents/changes?after=now')).body.next).toBe(judged.next);
});

test('a verdict is about one version of a document that exists', async () => {
  const url = (id: string) => `/api/v1/documents/${id}/classification`;
  const verdict = { version: 2, status: 'classified' };
  expect(await lab.ask('PATCH', url(idOf(bridge)), verdict)).toMatchObject({
    status: 409,
    body: { code: 'changed_since' },
  });
  expect((await lab.ask('PATCH', url('nobody'), verdict)).status).toBe(404);
  for (const bad of [
    { ...verdict, status: 'thought about' },
    { ...verdict, labels: { 'a b': 1 } },
    { ...verdict, labels: { deep: { er: 1 } } },
    { ...verdict, version: 0 },
    { version: 1 },
  ])
    expect((await lab.ask('PATCH', url(idOf(bridge)), bad)).status, JSON.stringify(bad)).toBe(400);
  const { body } = await lab.ask('POST', '/api/v1/documents/verdicts', {
    verdicts: [
      { id: idOf(bridge), version: 1, status: 'failed', labels: { why: 'no model' } },
      { id: idOf(bridge), version: 7, status: 'failed' },
      { id: 'nobody', version: 1, status: 'classified' },
    ],
  });
  expect(body.items.map((item: { outcome: string }) => item.outcome)).toEqual([
    'saved',
    'changed_since',
    'unknown_document',
  ]);
  expect((await lab.ask('GET', `/api/v1/documents/${idOf(bridge)}`)).body).toMatchObject({
    classification_status: 'failed',
    labels: { why: 'no model' },
  });
  // Another text is another matter.
  await storeDocuments(lab.database.pool, [{ url: bridge, sourceId, text: textOf(bridge, 2) }]);
  expect((await lab.ask('GET', `/api/v1/documents/${idOf(bridge)}`)).body).toMatchObject({
    version: 2,
    classification_status: 'pending',
    classified_at: null,
    labels: {},
    versions: [{ version: 2 }, { version: 1 }],
  });
  await lab.index();
});

test('a verdict can be taken back', async () => {
  const url = `/api/v1/documents/${idOf(faehren)}/classification`;
  await lab.ask('PATCH', url, { version: 1, status: 'classified', labels: { topic: 'ships' } });
  expect((await lab.ask('PATCH', url, { version: 1, status: 'pending' })).body).toEqual({
    id: idOf(faehren),
    outcome: 'saved',
  });
  expect((await lab.ask('GET', `/api/v1/documents/${idOf(faehren)}`)).body).toMatchObject({
    classification_status: 'pending',
    classified_at: null,
    labels: {},
  });
  expect((await lab.ask('PUT', `/api/v1/documents/${idOf(faehren)}/verdict`, {})).status).toBe(404);
});

test('versions are listed and compared', async () => {
  const url = 'https://herald.example/edited';
  const lines = Array.from({ length: 12 }, (_, n) => `Line ${n} of a report on tides.`);
  const edited = lines.map((line, n) => (n === 6 ? 'A correction.' : line));
  await storeDocuments(lab.database.pool, [{ url, sourceId, title: 'Tides', text: lines.join('\n') }]);
  await storeDocuments(lab.database.pool, [
    { url, sourceId, title: 'Tides, corrected', text: edited.join('\n') },
  ]);
  const path = `/api/v1/documents/${idOf(url)}`;
  expect((await lab.ask('GET', `${path}/diff?to=1`)).body.detail).toBe(
    `version 1 of ${url} is the first, there is none before it`,
  );
  expect((await lab.ask('GET', `${path}/versions`)).body.items).toMatchObject([
    { version: 2, title: 'Tides, corrected' },
    { version: 1, title: 'Tides' },
  ]);
  const { body } = await lab.ask('GET', `${path}/diff`);
  expect(body).toMatchObject({
    from: { version: 1, title: 'Tides' },
    to: { version: 2, title: 'Tides, corrected' },
    removed: 1,
    added: 1,
    coarse: false,
  });
  expect(body.unified).toContain('\n-Line 6 of a report on tides.\n+A correction.\n');
  const back = (await lab.ask('GET', `${path}/diff?from=2&to=1`)).body;
  expect(back.unified).toContain('\n-A correction.\n+Line 6 of a report on tides.\n');
  for (const query of ['from=3', 'from=1&to=9', 'to=1'])
    expect(await lab.ask('GET', `${path}/diff?${query}`), query).toMatchObject({
      status: 404,
      body: { code: 'version_unknown' },
    });
  for (const query of ['from=0', 'from=x', 'to=2147483648', 'with=1'])
    expect((await lab.ask('GET', `${path}/diff?${query}`)).status, query).toBe(400);
  for (const what of ['versions', 'diff'])
    expect((await lab.ask('GET', `/api/v1/documents/nobody/${what}`)).status).toBe(404);
  await lab.index();
});

test('whatever comes, nothing breaks', async () => {
  const path = `/api/v1/documents/${idOf(ferry)}`;
  for (const value of hostileValues) {
    for (const field of ['version', 'status', 'labels'])
      await lab.ask('PATCH', `${path}/classification`, { version: 1, status: 'classified', [field]: value });
    await lab.ask('PATCH', `${path}/classification`, {
      version: 1,
      status: 'classified',
      labels: { a: value, b: [value] },
    });
    await lab.ask('POST', '/api/v1/documents/verdicts', {
      verdicts: [{ id: value, version: 1, status: 'failed' }],
    });
  }
  for (const text of hostileTexts) {
    const part = new URLSearchParams({ v: text }).toString().slice(2);
    for (const name of ['q', 'source', 'domain', 'language', 'since', 'until', 'limit', 'other'])
      await lab.ask('GET', `/api/v1/documents?${name}=${part}`);
    for (const name of ['after', 'limit', 'status', 'source'])
      await lab.ask('GET', `/api/v1/documents/changes?${name}=${part}`);
    if (part !== '') await lab.ask('GET', `/api/v1/documents/${part}`);
  }
  for (const since of [
    '275760-09-13',
    '-271821-04-20',
    '9999-12-31T23:59:59Z',
    '0001-01-01',
    '+010000-01-01',
  ])
    await lab.ask('GET', `/api/v1/documents?since=${encodeURIComponent(since)}`);
  await lab.index();
});

/** Reads server-sent events until there are as many as wanted. */
async function readEvents(
  path: string,
  count: number,
  meanwhile: () => Promise<void>,
  headers: Record<string, string> = {},
): Promise<{ id: string; url: string }[]> {
  const stop = new AbortController();
  const response = await fetch(`${lab.address}${path}`, {
    signal: stop.signal,
    headers: { ...lab.headersOf('read'), ...headers },
  });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const events: { id: string; url: string }[] = [];
  let text = '';
  const decoder = new TextDecoder();
  let isBegun = false;
  for await (const chunk of response.body!) {
    if (!isBegun) await meanwhile();
    isBegun = true;
    text += decoder.decode(chunk, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop()!;
    for (const block of blocks) {
      const id = /^id: (\d+)$/m.exec(block)?.[1];
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (id !== undefined && data !== undefined)
        events.push({ id, url: (JSON.parse(data) as { url: string }).url });
    }
    if (events.length >= count) break;
  }
  stop.abort();
  return events;
}

test('the stream tells as it comes and goes on where a reader left off', async () => {
  const urls = [1, 2, 3, 4].map((n) => `https://herald.example/live/${n}`);
  const publish = async (some: readonly string[]): Promise<void> => {
    for (const url of some) {
      await storeDocuments(lab.database.pool, [{ url, sourceId }]);
      await lab.index();
    }
  };
  const first = await readEvents('/api/v1/documents/stream', 2, () => publish(urls.slice(0, 2)));
  expect(first.map((event) => event.url)).toEqual(urls.slice(0, 2));
  await publish(urls.slice(2, 3));
  const second = await readEvents('/api/v1/documents/stream', 2, () => publish(urls.slice(3)), {
    'last-event-id': first.at(-1)!.id,
  });
  expect(second.map((event) => event.url)).toEqual(urls.slice(2));
  const all = await readEvents('/api/v1/documents/stream?after=0&source=herald', 5, async () => undefined);
  expect(new Set(all.map((event) => event.url)).size).toBe(all.length);
});

test('changes that are not kept any more are said to be gone', async () => {
  await lab.database.pool.query(`UPDATE document_changes SET at = now() - interval '40 days'`);
  await pruneChanges(lab.database.pool, 30);
  expect((await lab.ask('GET', '/api/v1/documents/changes?after=1')).status).toBe(410);
  const last = (await lab.ask('GET', '/api/v1/documents/changes?after=now')).body.next as string;
  await storeDocuments(lab.database.pool, [{ url: 'https://herald.example/next', sourceId }]);
  await lab.index();
  const { body } = await lab.ask('GET', `/api/v1/documents/changes?after=${last}`);
  expect(body.items.map((item: { document: { url: string } }) => item.document.url)).toEqual([
    'https://herald.example/next',
  ]);
});

test('a place that was not reached yet is of another time, and its reader is told', async () => {
  const last = BigInt((await lab.ask('GET', '/api/v1/documents/changes?after=now')).body.next as string);
  expect((await lab.ask('GET', `/api/v1/documents/changes?after=${last}`)).status).toBe(200);
  const { status, body } = await lab.ask('GET', `/api/v1/documents/changes?after=${last + 1n}`);
  expect({ status, code: body.code }).toEqual({ status: 410, code: 'changes_gone' });
  expect(body.detail).toContain('another database');
  const stream = await lab.ask('GET', `/api/v1/documents/stream?after=${last + 1n}`);
  expect(stream.status).toBe(410);
});
