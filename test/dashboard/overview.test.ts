import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../src/telemetry/index.ts';
import { type DashboardLab, findBarriers, overflowOf, startDashboardLab } from './lab.ts';
import {
  addDocuments,
  addFeeds,
  addUrls,
  countDue,
  failFeeds,
  fillHistory,
  startWorkers,
} from './overview-data.ts';

let lab: DashboardLab;
let sourceId: number;
let feeds: number[];
let gap: number[];
// Answers are shared for a second; a test that has changed something by hand lets that second be over.
let aheadMs = 0;
const later = (): void => {
  aheadMs += 1000;
};
beforeAll(async () => {
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + aheadMs };
  lab = await startDashboardLab({ clock });
});
beforeEach(later);
afterAll(() => lab?.close());

const pool = () => lab.api.database.pool;
const state = (page: Page) => page.getByRole('region', { name: 'State' });
const one = async <T>(query: string, values: unknown[] = []): Promise<T> =>
  (await pool().query<{ value: T }>(query, values)).rows[0]!.value;

test('the first run shows the way, and turns into the flow when a source is there', async () => {
  const reader = await lab.open('/', { role: 'read', width: 360, scheme: 'dark' });
  await reader.getByRole('heading', { name: 'Follow your first source' }).waitFor();
  await reader.getByText('This account only reads.').waitFor();
  await expect.poll(() => reader.getByLabel('Address of a site or a feed').count()).toBe(0);
  await expect.poll(() => findBarriers(reader)).toEqual([]);
  await expect.poll(() => overflowOf(reader)).toBe(0);
  await reader.close();

  const page = await lab.open('/');
  await page.getByRole('heading', { name: 'Follow your first source' }).waitFor();
  await page.getByText('outrider add https://example.com').waitFor();
  expect(await page.getByRole('link', { name: 'Import a list' }).getAttribute('href')).toBe(
    '/settings?tab=lists',
  );
  await expect.poll(() => findBarriers(page)).toEqual([]);
  await page.getByLabel('Address of a site or a feed').fill('herald.example/a?b=c&d');
  await page.getByRole('button', { name: 'Add the source' }).click();
  // It is added with that, and the search for its feeds can be watched.
  await page.getByRole('heading', { name: 'Looking for feeds' }).waitFor();
  const added = new URL(page.url()).searchParams.get('source');
  const { body: source } = await lab.api.ask('GET', `/api/v1/sources/${added}`);
  expect(source.url).toBe('https://herald.example/a?b=c&d');
  const gone = await lab.api.ask('DELETE', `/api/v1/sources/${added}?documents=delete`);
  expect(gone.status).toBe(200);
  // A link with an address in it adds nothing by itself.
  await page.goto(`${lab.api.address}/sources/add?url=herald.example`);
  await page.getByRole('button', { name: 'Look for its feeds' }).waitFor();
  expect(await page.getByLabel('Address').inputValue()).toBe('herald.example');
  expect((await lab.api.ask('GET', '/api/v1/sources')).body.items).toEqual([]);
  await page.goto(`${lab.api.address}/`);
  await page.getByRole('heading', { name: 'Follow your first source' }).waitFor();

  await startWorkers(pool());
  const { status, body } = await lab.api.ask('POST', '/api/v1/sources', {
    url: 'https://herald.example/',
    name: 'The Herald',
  });
  expect(status).toBe(201);
  sourceId = body.id as number;
  await page.getByRole('region', { name: 'Flow' }).waitFor();
  await expect.poll(() => page.getByRole('heading', { name: 'Follow your first source' }).count()).toBe(0);
  await page.getByText('No documents yet.').waitFor();
  await page.close();
  feeds = await addFeeds(pool(), sourceId, 5);
  gap = await fillHistory(pool());
});

test('charts are drawn in a browser without a language, and are tables where they cannot be drawn', async () => {
  const page = await lab.open('/icon.svg');
  const charts = page.getByRole('region', { name: 'Over time' });
  // What Chromium says where the system's locale is C or POSIX.
  await page.addInitScript(
    `Object.defineProperty(Navigator.prototype, 'language', { get: () => 'en-US@posix', configurable: true })`,
  );
  await page.goto(`${lab.api.address}/`);
  await charts.locator('canvas').first().waitFor();
  await page.route('**/assets/series-chart-*.js', (route) => route.abort());
  await page.reload();
  await charts.getByRole('table').first().waitFor();
  expect(await charts.locator('canvas').count()).toBe(0);
  await page.close();
});

test('well is told in a sentence, with the flow and its exits', async () => {
  await addDocuments(pool(), ['The ferry sails again', 'A bridge is closed']);
  await lab.api.index();
  const page = await lab.open('/');
  await state(page).getByText('Nothing needs you.').waitFor();
  await page.getByRole('link', { name: 'All well' }).waitFor();
  const flow = page.getByRole('region', { name: 'Flow' });
  for (const stage of ['Discovered', 'Pending', 'Fetching', 'Fetched', 'Delivered'])
    await flow.getByRole('link', { name: stage }).waitFor();
  const href = (name: string) => flow.getByRole('link', { name, exact: true }).getAttribute('href');
  await expect.poll(() => href('robots')).toBe('/frontier?status=dead&reason=robots_blocked');
  await expect.poll(() => href('needs render')).toBe('/frontier?status=needs_render');
  await expect.poll(() => href('duplicate')).toBe('/frontier?status=duplicate');
  // Five whole minutes and what there is of the sixth, each with forty items that were known.
  const known = await flow
    .getByRole('listitem')
    .filter({ hasText: /^known/ })
    .last()
    .textContent();
  expect(['200', '240']).toContain(known!.replace(/\D/g, ''));
  const documents = page.getByRole('table', { name: 'Latest documents' });
  await documents.getByRole('link', { name: 'The ferry sails again' }).waitFor();
  await expect.poll(() => documents.getByRole('row').count()).toBe(3);
  await expect.poll(() => findBarriers(page)).toEqual([]);
  await page.close();
});

test('charts are tables too, their span is in the address, and the pointer tells values', async () => {
  const page = await lab.open('/');
  const chart = page.getByRole('img', {
    name: /^In the last hour [\d,]+ URLs discovered and [\d,]+ fetched/,
  });
  await chart.locator('canvas').waitFor();
  await expect.poll(() => page.getByRole('img').count()).toBe(4);
  const shownTime = page.locator('figure').filter({ hasText: 'In and out' }).locator('.time');
  const latest = await shownTime.textContent();
  const box = (await chart.boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await expect.poll(() => shownTime.textContent()).not.toBe(latest);

  await page.getByRole('button', { name: 'Show as table of In and out' }).click();
  const rows = page.getByRole('region', { name: 'In and out as a table' }).getByRole('row');
  const texts = await rows.evaluateAll((all) =>
    all.slice(1).map((row) => [...row.children].map((cell) => cell.textContent!.trim())),
  );
  expect(texts).toHaveLength(60);
  for (const [from, waiting, discovered] of texts as [string, string, string][]) {
    const minute = Number(from.slice(-2));
    const isGap = gap.includes(minute);
    expect([from, discovered]).toEqual([from, isGap ? '–' : String(100 + minute)]);
    expect([from, waiting]).toEqual([from, isGap ? '–' : (300 + 20 * minute).toLocaleString('en')]);
  }
  // The reader's own time, newest first; the step under way is not in it.
  const inVienna = new Intl.DateTimeFormat('en-GB', {
    timeZone: 'Europe/Vienna',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
  });
  const recent = [1, 2].map((ago) => inVienna.format(Date.now() - ago * 60_000));
  expect(recent).toContain(texts[0]![0]);

  await page.getByRole('link', { name: '7 days' }).click();
  await page.waitForURL('**/?span=7d');
  await expect.poll(() => rows.count()).toBe(169);
  await page.getByRole('button', { name: 'Show as chart of In and out' }).click();
  await page.getByRole('img', { name: /^In the last 7 days .* fetched/ }).waitFor();
  await page.close();

  const other = await lab.open('/?span=24h', { width: 360, scheme: 'dark' });
  await other
    .getByRole('img', { name: /^In the last 24 hours .* fetched/ })
    .locator('canvas')
    .waitFor();
  await other.getByRole('button', { name: 'Show as table of Fetch latency' }).click();
  await expect
    .poll(() => other.getByRole('link', { name: '24 hours' }).getAttribute('aria-current'))
    .toBe('true');
  await expect.poll(() => findBarriers(other)).toEqual([]);
  await expect.poll(() => overflowOf(other)).toBe(0);
  await other.close();
});

test('charts are drawn anew in other colours and on a window of another size', async () => {
  const page = await lab.open('/?span=7d');
  const canvas = page.getByRole('img', { name: /^In the last 7 days .* fetched/ }).locator('canvas');
  const drawing = (): Promise<string> =>
    canvas.evaluate((one) => (one as unknown as { toDataURL(): string }).toDataURL());
  const width = async (): Promise<number> => (await canvas.boundingBox())!.width;
  const light = await drawing();
  await page.locator('summary').first().click();
  await page.getByLabel('Colours').selectOption('dark');
  await expect.poll(drawing).not.toBe(light);
  const dark = await drawing();
  await page.getByLabel('Colours').selectOption('light');
  await expect.poll(drawing).not.toBe(dark);
  const wide = await width();
  await page.setViewportSize({ width: 400, height: 800 });
  await expect.poll(width).toBeLessThan(wide);
  await expect.poll(() => overflowOf(page)).toBe(0);
  await page.close();
});

test('a channel that fails is polled from here, and many are at once', async () => {
  await failFeeds(pool(), feeds.slice(0, 1));
  await expect.poll(() => countDue(pool())).toBe(0);
  const page = await lab.open('/');
  await state(page).getByText('https://herald.example/0.xml has failed for 3 h').waitFor();
  await state(page).getByText('1 channel failing').waitFor();
  await page.getByRole('link', { name: 'Needs a look' }).waitFor();
  await page.getByRole('button', { name: /^Poll it now/ }).click();
  await page.getByText('It is polled as soon as its domain may be asked.').waitFor();
  await expect.poll(() => countDue(pool())).toBe(1);
  await page.close();

  await failFeeds(pool(), feeds);
  later();
  const many = await lab.open('/', { role: 'write' });
  await many.getByRole('button', { name: 'Try all of them again' }).click();
  const dialog = many.getByRole('dialog', { name: 'Retry what fails' });
  await dialog.getByText('5 channels fail.').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expect.poll(() => countDue(pool())).toBe(1);
  await many.getByRole('button', { name: 'Try all of them again' }).click();
  await dialog.getByRole('button', { name: 'Retry 5' }).click();
  await many.getByText('5 channels are polled as soon as their domains may be asked.').waitFor();
  await expect.poll(() => countDue(pool())).toBe(5);
  await many.close();
  await pool().query('UPDATE channel_state SET errors_in_row = 0, failing_since = NULL, error_kind = NULL');
});

test('a domain is reset with a reason, and the list changes by itself', async () => {
  await addUrls(pool(), 'shut.test', 150);
  await lab.api.ask('POST', '/api/v1/domains/shut.test/block', { reason: 'they asked us to' });
  const page = await lab.open('/');
  await state(page)
    .getByText(/shut\.test has been blocked for .*they asked us to/)
    .waitFor();
  await page.getByRole('button', { name: 'Reset it (shut.test)' }).click();
  await page.getByLabel('Why? It is kept with the domain.').fill('they changed their mind');
  await page.getByRole('dialog').getByRole('button', { name: 'Reset the domain' }).click();
  await page.getByText('shut.test is asked again.').waitFor();
  await state(page).getByText('Nothing needs you.').waitFor();
  await expect
    .poll(() => one(`SELECT status AS value FROM domains WHERE name = 'shut.test'`))
    .not.toBe('blocked');
  expect(await one(`SELECT reason AS value FROM domain_events ORDER BY at DESC LIMIT 1`)).toContain(
    'they changed their mind',
  );
  await page.close();
});

test('switches, sinks and what they refused are mended from here, each by who may', async () => {
  await lab.api.ask('PUT', '/api/v1/switches/fetching', { on: false });
  await pool().query(`INSERT INTO sinks (name, kind, enabled) VALUES ('search', 'webhook', false)`);
  await pool().query(
    `INSERT INTO dead_letters (bucket, sink, domain_key, url_hash, version, enqueued_at, dead_at, attempts, error)
     SELECT bucket, 'search', domain_key, url_hash, version, now(), now(), 9, 'no' FROM documents LIMIT 1`,
  );
  const reader = await lab.open('/', { role: 'read' });
  await state(reader)
    .getByText(/The switch fetching was turned off/)
    .waitFor();
  await expect.poll(() => state(reader).getByRole('button').count()).toBe(0);
  await expect.poll(() => state(reader).getByRole('link', { name: 'Show it' }).count()).toBe(3);
  const sink = state(reader).getByRole('link', { name: 'Show it (search)' }).first();
  await expect.poll(() => sink.getAttribute('href')).toBe('/state/sinks/search');
  await reader.close();
  const writer = await lab.open('/', { role: 'write' });
  await state(writer).getByRole('button', { name: 'Let it go on (search)' }).waitFor();
  expect(
    await state(writer)
      .getByRole('button', { name: /^Switch it on/ })
      .count(),
  ).toBe(0);
  await writer.close();

  const page = await lab.open('/');
  await state(page).getByText('Fetching is switched off').waitFor();
  await page.getByRole('link', { name: 'Trouble' }).waitFor();
  await page.getByRole('button', { name: 'Switch it on (fetching)' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Switch it on' }).click();
  await page.getByText('The switch fetching is on again.').waitFor();
  expect((await lab.api.ask('GET', '/api/v1/switches')).body.items).toContainEqual(
    expect.objectContaining({ name: 'fetching', on: true }),
  );
  await page.getByRole('button', { name: 'Let it go on (search)' }).click();
  await page.getByText('search goes on.').waitFor();
  await expect.poll(() => one(`SELECT enabled AS value FROM sinks WHERE name = 'search'`)).toBe(true);
  await page.getByRole('button', { name: 'Try them again (search)' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Try dead letters again' }).click();
  await page.getByText('1 delivery is on the way to search again.').waitFor();
  await expect.poll(() => one('SELECT count(*)::integer AS value FROM dead_letters')).toBe(0);
  await page.close();
  await pool().query(`DELETE FROM sinks WHERE name = 'search'`);
});

test('pages complain of nothing', () => {
  expect(lab.complaints).toEqual([]);
});
