import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitUntil } from '../e2e/wait.ts';
import { type EngineLab, startEngineLab } from './engine-lab.ts';
import { findBarriers, overflowOf } from './lab.ts';

// The first publisher has a feed, the second nothing but pages, the third forbids robots everything, the last is ill.
let lab: EngineLab;
beforeAll(async () => {
  lab = await startEngineLab({
    seed: 11,
    publishers: 4,
    backlog: 12,
    changes: [{}, { feeds: [], sitemaps: [], archives: false }],
  });
  lab.web.setRobots(lab.web.publishers[2]!.host, { disallow: ['/'] });
  lab.web.setFault(lab.web.publishers[3]!.host, { name: 'status' });
}, 120_000);
afterAll(() => lab?.close());

const addressOf = (index: number): string => `http://${lab.web.publishers[index]!.host}/`;
const rows = async (sql: string, values: unknown[] = []) => (await lab.database.pool.query(sql, values)).rows;

async function add(address: string, width = 1280): Promise<Page> {
  const page = await lab.open('/sources/add', { width, scheme: width === 1280 ? 'light' : 'dark' });
  await page.getByLabel('Address', { exact: true }).fill(address);
  await page.getByRole('button', { name: 'Look for its feeds' }).click();
  return page;
}

test('a source is added, its search watched, and its documents arrive without a reload', async () => {
  const page = await lab.open('/sources');
  await page.getByRole('heading', { name: 'Nobody is followed yet' }).waitFor();
  await page.evaluate('window.isSamePage = true');
  await page.getByRole('link', { name: 'Add a source' }).first().click();
  await page.getByLabel('Address', { exact: true }).fill(addressOf(0));
  await page.getByRole('button', { name: 'Look for its feeds' }).click();
  const { host, domain, title } = lab.web.publishers[0]!;
  // What is tried and why is told, and then what was found.
  const tried = page.getByRole('table', { name: 'Addresses tried' });
  await tried.getByRole('cell', { name: addressOf(0), exact: true }).waitFor();
  await page.getByRole('heading', { name: `${domain} is followed` }).waitFor();
  await tried.getByRole('cell', { name: 'a feed' }).waitFor();
  const found = page.getByRole('table', { name: 'Feeds and sitemaps found' });
  await found.getByText(title).first().waitFor();
  await expect.poll(() => found.getByRole('row').nth(1).textContent()).toMatch(/feed\s*12 entries\s*yes/);
  await expect.poll(() => findBarriers(page)).toEqual([]);
  await page.getByLabel('Name').fill('The Harbour');
  await page.getByLabel('Priority, 1 to 10').fill('8');
  await page.getByRole('button', { name: 'Save and watch it flow' }).click();
  await page.getByRole('heading', { name: 'The Harbour', level: 1 }).waitFor();
  const documents = page.getByRole('table', { name: 'Newest documents' });
  await documents.getByRole('row').nth(3).waitFor();
  // One that did not exist when the page was opened comes by itself.
  const [fresh] = lab.web.publish(host, 1);
  await lab.database.pool.query('SELECT channel_wake(id) FROM channels');
  await documents.getByText(fresh!).waitFor();
  await expect.poll(() => page.evaluate('window.isSamePage')).toBe(true);
  await expect
    .poll(() => rows('SELECT name, priority FROM sources'))
    .toEqual([{ name: 'The Harbour', priority: 8 }]);
  await expect.poll(() => findBarriers(page)).toEqual([]);
  // The other parts know of it too.
  await page.getByRole('link', { name: 'Frontier', exact: true }).last().click();
  await page.getByRole('table', { name: 'Newest URLs' }).getByText(fresh!).waitFor();
  await page.getByRole('link', { name: /\d+ fetched/ }).waitFor();
  await page.getByRole('link', { name: 'Channels', exact: true }).last().click();
  await page.getByRole('table', { name: 'Channels of this source' }).getByText('ok').waitFor();
  await page.context().close();
}, 60_000);

test('what is known is said so, and never offered to be taken back', async () => {
  const [channel] = await rows('SELECT id, url FROM channels');
  const page = await add(channel.url);
  await page.getByText('It is followed already.').waitFor();
  await page.getByRole('link', { name: 'See how its polls go' }).waitFor();
  await page.getByLabel('Address', { exact: true }).fill(addressOf(0));
  await page.getByRole('button', { name: 'Look for its feeds' }).click();
  await page.getByText('The Harbour was followed already.').waitFor();
  await page.getByRole('heading', { name: 'The Harbour is followed' }).waitFor();
  await expect.poll(() => page.getByRole('button', { name: 'Take it back' }).count()).toBe(0);
  // A private address is refused in the server's words, at the field.
  await page.getByRole('button', { name: 'Add another source' }).click();
  await page.getByLabel('Address', { exact: true }).fill('http://192.168.0.1/');
  await page.getByRole('button', { name: 'Look for its feeds' }).click();
  await page.getByRole('alert').filter({ hasText: 'may not be fetched' }).waitFor();
  await expect.poll(() => rows('SELECT FROM sources')).toHaveLength(1);
  await page.context().close();
}, 60_000);

test('a site without feeds is followed by its links, and takes a feed by hand', async () => {
  const page = await add(addressOf(1), 360);
  await page.getByRole('heading', { name: 'No feed or sitemap found' }).waitFor();
  await expect.poll(() => findBarriers(page)).toEqual([]);
  await expect.poll(() => overflowOf(page)).toBe(0);
  await expect.poll(() => page.getByLabel('Followed by').inputValue()).toBe('spider');
  await page.getByRole('button', { name: 'Look again' }).click();
  await page.getByRole('heading', { name: 'Looking for feeds' }).waitFor();
  await page.getByRole('heading', { name: 'No feed or sitemap found' }).waitFor();
  await page.getByLabel('Address of a feed or sitemap').fill(`${addressOf(1)}by-hand.xml`);
  await page.getByRole('button', { name: 'Follow it', exact: true }).click();
  await page.getByText('is polled from now on').waitFor();
  expect(await rows(`SELECT found_by FROM channels WHERE url LIKE '%by-hand.xml'`)).toEqual([
    { found_by: 'manual' },
  ]);
  await page.context().close();
}, 60_000);

test('a site that forbids robots, and one that is ill, are told apart and can be taken back', async () => {
  const forbidden = await add(addressOf(2));
  await forbidden.getByRole('heading', { name: 'The page cannot be read' }).waitFor();
  await forbidden.getByText('its robots.txt does not want us there').first().waitFor();
  await forbidden.getByRole('button', { name: 'Take it back' }).click();
  await forbidden.getByText('It is taken back.').waitFor();
  const ill = await add(addressOf(3));
  await ill.getByRole('heading', { name: /cannot be reached/ }).waitFor();
  await expect.poll(() => findBarriers(ill)).toEqual([]);
  await ill.getByRole('button', { name: 'Take it back' }).click();
  await ill.getByText('It is taken back.').waitFor();
  const left = await rows('SELECT url FROM sources ORDER BY id');
  expect(left.map((row) => row.url)).toEqual([addressOf(0), addressOf(1)]);
  await forbidden.context().close();
  await ill.context().close();
}, 90_000);

test('selectors are tried on a page, field by field, and saved', async () => {
  const [{ slug }] = await rows('SELECT slug FROM sources ORDER BY id LIMIT 1');
  const page = await lab.open(`/sources/${slug}?tab=selectors`);
  // The newest page stands there already.
  await expect.poll(() => page.getByLabel('Page to try them on').inputValue()).toContain(addressOf(0));
  await page.getByLabel('Title').fill('h1');
  await page.getByLabel('Author').fill('.nobody');
  await page.getByLabel('Date').fill('time[[');
  await waitUntil('the domain rests', async () => {
    await page.getByRole('button', { name: 'Test' }).click();
    await page
      .getByRole('heading', { name: 'The page as it would be read' })
      .or(page.getByRole('alert'))
      .waitFor();
    return page.getByRole('heading', { name: 'The page as it would be read' }).isVisible();
  });
  await page.getByText('1 match', { exact: true }).waitFor();
  await page.getByText('no match', { exact: true }).waitFor();
  await page.getByText('no CSS selector', { exact: true }).waitFor();
  await expect.poll(() => findBarriers(page)).toEqual([]);
  await page.getByLabel('Date').fill('');
  await page.getByRole('button', { name: 'Save selectors' }).click();
  await page.getByText('The selectors are saved').waitFor();
  expect(await rows('SELECT settings FROM sources WHERE slug = $1', [slug])).toEqual([
    { settings: { selectors: { title: 'h1', author: '.nobody' } } },
  ]);
  await page.context().close();
}, 60_000);

test('pages complain of nothing', () => {
  expect(lab.complaints).toEqual([]);
});
