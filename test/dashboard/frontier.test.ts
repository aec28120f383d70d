import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findSlotProblems, submit } from '../../src/frontier/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { item } from '../frontier/fixtures.ts';
import { type DashboardLab, findBarriers, overflowOf, startDashboardLab } from './lab.ts';

const many = 1200;
let lab: DashboardLab;
let herald: number;
beforeAll(async () => {
  lab = await startDashboardLab();
  const { pool } = lab.api.database;
  const made = await createSource(pool, { url: 'https://herald.test/', name: 'Herald <b>&</b> Sons' });
  herald = made.source.id;
  const of = (domain: string, count: number) =>
    Array.from({ length: count }, (_, n) => item(domain, `story/${n}`, { sourceId: herald }));
  await submit(pool, [...of('herald.test', 60), ...of('gone.test', many)]);
  await submit(pool, [item('hostile.test', 'a?q=<script>alert(1)</script>', { sourceId: null })]);
  // Removed by hand: as dead as those that were given up.
  for (let cursor: string | undefined; ; ) {
    const { body } = await lab.api.ask('POST', '/api/v1/frontier/actions', {
      action: 'remove',
      filter: { domain: 'gone.test' },
      limit: 1000,
      ...(cursor === undefined ? {} : { cursor }),
    });
    if (body.cursor === null) break;
    cursor = body.cursor as string;
  }
});
afterAll(async () => {
  // Whatever was pressed, slots and kept counts say what the rows say.
  if (lab) expect(await findSlotProblems(lab.api.database.pool)).toEqual([]);
  await lab?.close();
});

async function count(where: string): Promise<number> {
  const result = await lab.api.database.pool.query<{ n: number }>(
    `SELECT count(*)::integer AS n FROM url_frontier WHERE ${where}`,
  );
  return result.rows[0]!.n;
}
const row = async (url: string) => {
  const { body } = await lab.api.ask('GET', `/api/v1/frontier?url=${encodeURIComponent(url)}`);
  return body.items[0] as { id: string; status: string; priority: number; errorCode: string | null };
};
const agree = (page: Page, title: string | RegExp, button: string) =>
  page.getByRole('dialog', { name: title }).getByRole('button', { name: button, exact: true }).click();

test('a URL is found and says why it waits; its priority is set, it is removed and retried', async () => {
  const url = 'https://herald.test/story/7';
  const page = await lab.open('/frontier');
  await page.getByLabel('Address').fill(url);
  await page.getByLabel('Address').press('Enter');
  await page.getByText('1 in all').waitFor();
  await page.getByRole('link', { name: url, exact: true }).click();
  await page.getByRole('heading', { name: 'Why it has not been fetched yet' }).waitFor();
  await page.getByText('No fetcher is running: start one with "outrider up".').waitFor();
  await page.getByText('Discovered by feed').waitFor();
  await page.getByRole('link', { name: 'Open domain' }).waitFor();
  await expect.poll(() => findBarriers(page)).toEqual([]);

  await page.getByLabel('Priority').selectOption('9');
  await page.getByRole('button', { name: 'Set', exact: true }).click();
  await page.getByText('Its priority is 9 now.').waitFor();
  await expect.poll(async () => (await row(url)).priority).toBe(9);
  await page.getByRole('button', { name: 'Remove', exact: true }).click();
  await agree(page, 'Remove this URL?', 'Remove');
  await page.getByText('It was given up: an operator removed it').waitFor();
  await expect.poll(() => row(url)).toMatchObject({ status: 'dead', errorCode: 'removed' });
  await page.keyboard.press('r');
  await page.getByText('It is fetched as soon as its domain may be asked.').waitFor();
  await page.getByText('article, priority').waitFor();
  await expect.poll(async () => (await row(url)).status).toBe('pending');
  await page.close();
});

test('requests of the log are steps of its life, and what they say stays text', async () => {
  const { pool } = lab.api.database;
  const { id } = await row('https://hostile.test/a?q=<script>alert(1)</script>');
  await pool.query(
    `INSERT INTO crawl_log (at, bucket, domain_key, epoch, status, kind, outcome, url_hash, url, total_ms, bytes, worker)
     SELECT now() - interval '1 hour', bucket, domain_key, 1, 503, 'article', 'server_error', url_hash, url, 250, 1200, '<i>w1</i>'
       FROM url_frontier WHERE url LIKE '%hostile.test/a%'`,
  );
  await pool.query(
    `UPDATE url_frontier SET error_code = 'server_error', error_text = '<img src=x onerror=alert(1)>' WHERE url LIKE '%hostile.test/a%'`,
  );
  const page = await lab.open(`/frontier/${id}`);
  await page.getByText('Answer 503: server error').waitFor();
  await page.getByText('250 ms, 1.2 kB, by <i>w1</i>').waitFor();
  await page.getByText('<img src=x onerror=alert(1)>', { exact: true }).first().waitFor();
  await expect.poll(() => page.locator('main img, main script').count()).toBe(0);
  await page.close();
});

test('all dead are retried, over several portions, after a question that says how many', async () => {
  const page = await lab.open('/frontier');
  const portions: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/frontier/actions')) portions.push(request.url());
  });
  await expect.poll(() => count(`status = 'dead'`)).toBe(many);
  await page.getByRole('button', { name: 'dead 1,200' }).click();
  await page.getByText('1,200 in all').waitFor();
  await page.getByLabel('Select all rows of this page').check();
  await page.getByText('50 URLs selected').waitFor();
  await page.getByRole('button', { name: 'Select all 1,200 matching' }).click();
  await page.getByRole('button', { name: 'Retry', exact: true }).click();
  await agree(page, 'Retry all 1,200 URLs that match?', 'Retry');
  await page.getByText('1,200 URLs retried.').waitFor();
  expect(portions).toHaveLength(3);
  await expect.poll(() => count(`status = 'dead'`)).toBe(0);
  await page.getByText('No URL matches').waitFor();
  await page.getByRole('button', { name: 'dead 0' }).waitFor();

  // The button that is always there does the same.
  await lab.api.ask('POST', '/api/v1/frontier/actions', {
    action: 'remove',
    filter: { prefix: 'https://gone.test/story/11' },
  });
  const some = await count(`status = 'dead'`);
  expect(some).toBeGreaterThan(1);
  await page.getByRole('button', { name: 'Clear filters' }).first().click();
  await page.getByRole('button', { name: `Retry all dead (${some})` }).click();
  await agree(page, `Retry all ${some} URLs that match?`, 'Retry');
  await page.getByText(`${some} URLs retried.`).waitFor();
  await expect.poll(() => count(`status = 'dead'`)).toBe(0);
  await page.close();
});

test('the list is walked, selected, retried and opened with keys alone', async () => {
  const page = await lab.open('/frontier?domain=herald.test');
  await page.getByRole('table', { name: 'URLs' }).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('k');
  await page.keyboard.press('x');
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.getByText('2 URLs selected').waitFor();
  await page.getByLabel('Priority to set').selectOption('2');
  await page.getByRole('button', { name: 'Set priority' }).click();
  await agree(page, 'Give 2 URLs priority 2?', 'Set priority');
  await page.getByText('2 URLs changed.').waitFor();
  await expect.poll(() => count('priority = 2')).toBe(2);
  await page.getByRole('heading', { name: 'Frontier' }).focus();
  await page.keyboard.press('k');
  await page.keyboard.press('r');
  await page.getByRole('dialog', { name: 'Retry 1 URL?' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: /^https:\/\/herald\.test\/story\// }).waitFor();
  await page.goBack();
  // Pages are in the address, and Back leads through them.
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('Page 2').waitFor();
  await page.getByRole('button', { name: 'Previous' }).click();
  await page.getByText('Page 1').waitFor();
  await page.close();
});

test('filters understand the beginning of an address, and a source has an order by time', async () => {
  const page = await lab.open('/frontier');
  await page.getByLabel('Address').fill('herald.test/story/1*');
  await page.getByLabel('Address').press('Enter');
  await page.getByText('11 in all').waitFor();
  await page.getByLabel('Brought by').selectOption('spider');
  await page.getByText('No URL matches').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).first().click();
  const slug = (await lab.api.ask('GET', '/api/v1/sources')).body.items[0].slug as string;
  await page.getByLabel('Source').fill(slug);
  await page.getByLabel('Source').press('Enter');
  await page.getByText('1,260 in all').waitFor();
  const head = page.getByRole('columnheader', { name: 'Discovered' });
  await head.getByRole('button').click();
  await page.waitForURL(/sort=oldest/);
  await expect.poll(() => head.getAttribute('aria-sort')).toBe('ascending');
  await page.getByLabel('Source').fill('nobody');
  await page.getByLabel('Source').press('Enter');
  await page.getByRole('alert').getByText('source_unknown').waitFor();
  await page.close();
});

test('addresses are checked without being sent, then sent', async () => {
  const page = await lab.open('/frontier?tab=import');
  const before = await count('true');
  await page
    .getByLabel('Addresses')
    .fill(
      'url,priority\n"https://fresh.test/a,b",8\nhttps://fresh.test/c,\nhttps://fresh.test/c,\nhttps://herald.test/story/1,\nnonsense here,\nhttps://fresh.test/d,77\n',
    );
  await page.getByRole('button', { name: 'Check, without sending' }).click();
  await page.getByText('3 addresses read, 1 named twice and taken once, 2 lines left out.').waitFor();
  await page.getByText('Line 6 is no web address').waitFor();
  await page.getByText('Line 7 has a priority that is not 1 to 10').waitFor();
  await page.getByRole('heading', { name: 'What would happen' }).waitFor();
  await expect.poll(() => count('true')).toBe(before);
  await expect.poll(() => findBarriers(page)).toEqual([]);
  await page.getByRole('button', { name: 'Send 2 URLs' }).click();
  await page.getByRole('heading', { name: 'What happened' }).waitFor();
  await page.getByLabel('Show').selectOption({ label: 'known already (1)' });
  await page.getByRole('table').getByText('https://herald.test/story/1', { exact: true }).waitFor();
  await expect.poll(() => count('true')).toBe(before + 2);
  await expect.poll(() => row('https://fresh.test/a,b')).toMatchObject({ priority: 8, status: 'pending' });
  await page.close();
});

test('any address can be asked about, known or not', async () => {
  const page = await lab.open('/frontier?tab=why');
  await page.getByLabel('Web address').fill('stranger.test/page');
  await page.getByRole('button', { name: 'Ask' }).click();
  await page.getByText('This URL was never submitted.').waitFor();
  await page.getByRole('button', { name: 'Submit it' }).click();
  await page.getByText('It is in the frontier now.').waitFor();
  await page.getByText('No fetcher is running: start one with "outrider up".').waitFor();
  await expect.poll(async () => (await row('https://stranger.test/page')).status).toBe('pending');
  await page.getByLabel('Web address').fill('mailto:somebody');
  await page.getByRole('button', { name: 'Ask' }).click();
  await page.getByRole('alert').getByText('url_invalid').waitFor();
  await page.getByLabel('Web address').fill('https://herald.test/story/3');
  await page.getByRole('button', { name: 'Ask' }).click();
  await page.getByRole('link', { name: 'Open the URL' }).click();
  await page.getByRole('heading', { name: 'https://herald.test/story/3' }).waitFor();
  await page.close();
});

test('sources are counted by status; their names stay text', async () => {
  const page = await lab.open('/frontier?tab=sources');
  await page.getByRole('link', { name: 'Herald <b>&</b> Sons', exact: true }).waitFor();
  await page.getByRole('link', { name: '1,260 pending of Herald <b>&</b> Sons' }).click();
  await page.getByText('1,260 in all').waitFor();
  await page.close();
});

test('who may only read has no button that changes anything', async () => {
  const { id } = await row('https://herald.test/story/5');
  const page = await lab.open('/frontier', { role: 'read' });
  await page.getByRole('table', { name: 'URLs' }).waitFor();
  await expect.poll(() => page.getByRole('checkbox').count()).toBe(0);
  await expect.poll(() => page.getByRole('link', { name: 'Import' }).count()).toBe(0);
  await expect
    .poll(() => page.getByRole('button', { name: /retry|remove|set|send|submit/i }).count())
    .toBe(0);
  await page.goto(`${lab.api.address}/frontier/${id}`);
  await page.getByRole('link', { name: 'Open domain' }).waitFor();
  await expect.poll(() => page.locator('main').getByRole('button').count()).toBe(0);
  await page.goto(`${lab.api.address}/frontier?tab=why&url=https%3A%2F%2Fnobody.test%2F`);
  await page.getByText('This URL was never submitted.').waitFor();
  await expect.poll(() => page.getByRole('button', { name: 'Submit it' }).count()).toBe(0);
  await page.close();
});

test.each([
  {
    width: 1280,
    scheme: 'light',
    paths: [
      ['/frontier?address=https%3A%2F%2Fherald.test%2Fstory%2F1*', 'in all'],
      ['/frontier?tab=sources', 'Herald <b>'],
      ['/frontier?tab=why&url=https%3A%2F%2Fherald.test%2Fstory%2F3', 'discovered'],
    ],
  },
  {
    width: 360,
    scheme: 'dark',
    paths: [
      ['/frontier?address=https%3A%2F%2Fherald.test%2Fstory%2F1*', 'in all'],
      ['/frontier?tab=import', 'One address a line'],
      ['/frontier?status=duplicate', 'No URL matches'],
      ['ID', 'Discovered by feed'],
    ],
  },
] as const)('nobody is kept out, at $width px in the $scheme', async ({ width, scheme, paths }) => {
  const { id } = await row('https://herald.test/story/5');
  const page = await lab.open('/frontier', { width, scheme });
  for (const [path, ready] of paths) {
    await page.goto(`${lab.api.address}${path === 'ID' ? `/frontier/${id}` : path}`);
    await page.getByText(ready).first().waitFor();
    expect(await findBarriers(page), path).toEqual([]);
    await expect.poll(() => overflowOf(page), { message: path }).toBe(0);
  }
  await page.close();
});

test('pages complain of nothing', () => {
  expect(lab.complaints).toEqual([]);
});
