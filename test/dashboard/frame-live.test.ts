import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DashboardLab, findBarriers, overflowOf, startDashboardLab } from './lab.ts';
import { addDocuments, addFeeds, addUrls, failFeeds, startWorkers } from './overview-data.ts';

let lab: DashboardLab;
let feeds: number[];
beforeAll(async () => {
  lab = await startDashboardLab();
  const { pool } = lab.api.database;
  await startWorkers(pool);
  const { body } = await lab.api.ask('POST', '/api/v1/sources', {
    url: 'https://herald.example/',
    name: 'The Herald',
  });
  feeds = await addFeeds(pool, body.id as number, 2);
  await addDocuments(pool, ['The ferry sails again']);
  await lab.api.index();
  await addUrls(pool, 'shut.test', 3);
  await addUrls(pool, 'slow.test', 3);
});
afterAll(() => lab?.close());

const screens = join(import.meta.dirname, '..', '..', 'dashboard', 'src', 'screens');
const hasScreen = (name: string): boolean => existsSync(join(screens, name));
const focused = (page: Page): Promise<string> =>
  page.evaluate('document.activeElement.textContent.trim()') as Promise<string>;
const isSearching = (page: Page): Promise<boolean> =>
  page.evaluate(`document.activeElement.getAttribute('role') === 'combobox'`) as Promise<boolean>;
const pathOf = (page: Page): string => new URL(page.url()).pathname;

/** Opens a page that shows an answer already. */
async function openReady(path: string, options: Parameters<DashboardLab['open']>[1] = {}): Promise<Page> {
  const page = await lab.open(path, options);
  await page
    .getByRole('banner')
    .getByRole('link', { name: /All well|Needs a look|Trouble/ })
    .waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  return page;
}

test('the search leads by keys alone to what a text means', async () => {
  const page = await openReady('/sources/a/b/c/d');
  const search = page.getByRole('combobox', { name: 'Find anything' });
  const list = page.getByRole('listbox', { name: 'Suggestions' });
  const goHome = async (): Promise<void> => {
    await page.keyboard.press('g');
    await page.keyboard.press('o');
    await page.waitForURL((url) => url.pathname === '/');
  };
  const go = async (typed: string, keys: readonly string[]): Promise<string> => {
    // From the overview: the documents have a search of their own under this key.
    await goHome();
    await page.keyboard.press('/');
    await expect.poll(() => isSearching(page)).toBe(true);
    await page.keyboard.type(typed);
    if (keys[0] !== 'Enter') await list.waitFor();
    const before = page.url();
    for (const key of keys) await page.keyboard.press(key);
    await page.waitForURL((url) => url.href !== before);
    await expect.poll(() => search.inputValue()).toBe('');
    const { pathname, search: query } = new URL(page.url());
    return pathname + query;
  };
  // The first without a choice, though nothing was suggested yet.
  expect(await go('The Herald', ['Enter'])).toBe('/sources/the_herald');
  expect(await go('shut.test', ['ArrowDown', 'Enter'])).toBe('/domains/shut.test');
  expect(await go('https://herald.example/1.xml', ['Enter'])).toBe(`/channels/${feeds[1]}`);
  expect(await go('https://shut.test/p1', ['Enter'])).toMatch(/^\/frontier\/./);
  // Up from nowhere is the last: words in documents.
  expect(await go('ferry & co', ['ArrowUp', 'Enter'])).toBe('/documents?q=ferry+%26+co');
  const { body } = await lab.api.ask('GET', '/api/v1/documents?q=ferry');
  const { id, url } = body.items[0] as { id: string; url: string };
  expect(await go(url, ['Enter'])).toBe(`/documents/${id}`);

  await goHome();
  await page.keyboard.press('/');
  await page.keyboard.type('herald');
  await list.waitFor();
  await page.keyboard.press('ArrowDown');
  const chosen = list.getByRole('option', { selected: true });
  await expect.poll(() => search.getAttribute('aria-activedescendant')).toBe(await chosen.getAttribute('id'));
  await expect.poll(() => findBarriers(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await list.waitFor({ state: 'detached' });
  await expect.poll(() => search.inputValue()).toBe('herald');
  await page.keyboard.press('Escape');
  await expect.poll(() => search.inputValue()).toBe('');
  await page.keyboard.press('Escape');
  await expect.poll(() => isSearching(page)).toBe(false);
  await page.close();
});

test('the header has room for the search and the sentence on a narrow page', async () => {
  const page = await openReady('/sources/a/b/c/d', { width: 360, scheme: 'dark' });
  await page.keyboard.press('/');
  await page.keyboard.type('the her');
  await page.getByRole('option').first().waitFor();
  await expect.poll(() => findBarriers(page)).toEqual([]);
  await expect.poll(() => overflowOf(page)).toBe(0);
  await page.getByRole('option', { name: /The Herald/ }).click();
  await page.waitForURL('**/sources/the_herald');
  await page.close();
});

test('the sentence is on every screen, and only another state is announced', async () => {
  const page = await openReady('/sources/a/b/c/d');
  const banner = page.getByRole('banner');
  const link = banner.getByRole('link', { name: 'All well' });
  await expect.poll(() => link.getAttribute('href')).toBe('/state');
  await expect.poll(() => link.textContent()).toContain('URLs wait');
  const said = banner.getByRole('status').first();
  await expect.poll(() => said.textContent()).toBe('');
  // Another number, the same state.
  await addUrls(lab.api.database.pool, 'more.test', 4);
  await lab.api.ask('POST', '/api/v1/domains/slow.test/block', { reason: 'too slow' });
  await banner.getByText('10 URLs wait').waitFor();
  await expect.poll(() => said.textContent()).toBe('');
  await lab.api.ask('PUT', '/api/v1/switches/fetching', { on: false });
  await banner.getByRole('link', { name: 'Trouble' }).waitFor();
  await expect.poll(() => said.textContent()).toMatch(/^Trouble\. Fetching is switched off/);
  await lab.api.ask('PUT', '/api/v1/switches/fetching', { on: true });
  await banner.getByRole('link', { name: 'All well' }).waitFor();
  await page.close();
});

test('paused, nothing changes; going on catches up', async () => {
  const page = await openReady('/');
  const told = page.getByRole('region', { name: 'State' });
  await told.getByText('Nothing needs you.').waitFor();
  // The charts come last: their part of the page is loaded when the rest is there.
  await page.getByRole('heading', { name: 'Over time' }).waitFor();
  await page.keyboard.press('p');
  await page.getByRole('button', { name: 'Paused' }).waitFor();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await lab.api.ask('PUT', '/api/v1/switches/spider', { on: false });
  // A second page sees it; this one has had the same time to.
  const other = await openReady('/');
  await other.getByText('The switch spider was turned off').waitFor();
  await other.close();
  expect(asked).toEqual([]);
  await expect.poll(() => told.getByText('Nothing needs you.').count()).toBe(1);
  await page.keyboard.press('p');
  await told.getByText('The switch spider was turned off').waitFor();
  await lab.api.ask('PUT', '/api/v1/switches/spider', { on: true });
  await told.getByText('Nothing needs you.').waitFor();
  await page.close();
});

test('without an answer what is shown stays, and says that it is from before', async () => {
  const page = await openReady('/');
  await page.getByRole('region', { name: 'Flow' }).waitFor();
  await page.route('**/api/v1/overview', (route) => route.abort());
  await lab.api.ask('PUT', '/api/v1/switches/refresh', { on: false });
  await page
    .getByRole('banner')
    .getByRole('link', { name: 'No answer What is shown is from before.' })
    .waitFor();
  const problem = page.getByRole('alert').filter({ hasText: 'The server does not answer.' });
  await problem.getByText('unreachable').waitFor();
  await page.getByRole('region', { name: 'Flow' }).waitFor();
  await expect.poll(() => findBarriers(page)).toEqual([]);
  await page.unroute('**/api/v1/overview');
  await problem.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('The switch refresh was turned off').waitFor();
  await problem.waitFor({ state: 'detached' });
  await lab.api.ask('PUT', '/api/v1/switches/refresh', { on: true });
  await page.getByText('Nothing needs you.').waitFor();
  await page.close();
});

test('the theme and how times are told are remembered', async () => {
  const page = await openReady('/');
  const ground = (): Promise<unknown> => page.evaluate('getComputedStyle(document.body).backgroundColor');
  const light = await ground();
  const cell = page.getByRole('table', { name: 'Latest documents' }).locator('time').last();
  await expect.poll(() => cell.textContent()).toMatch(/ago$|^now$/);
  await page.locator('summary').first().click();
  await page.getByLabel('Colours').selectOption('dark');
  await page.getByLabel('Times').selectOption('utc');
  await expect.poll(ground).not.toBe(light);
  await expect.poll(() => cell.textContent()).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
  await page.reload();
  await expect.poll(() => cell.textContent()).toMatch(/ UTC$/);
  await expect.poll(() => ground()).not.toBe(light);
  await expect.poll(() => findBarriers(page)).toEqual([]);
  await page.close();
});

test('the frame is walked by keys alone', async () => {
  const page = await openReady('/');
  await page.keyboard.press('Tab');
  await expect.poll(() => focused(page)).toBe('Skip to the content');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('content');
  await page.keyboard.press('?');
  const help = page.getByRole('dialog', { name: 'Keyboard' });
  await help.getByText('search', { exact: true }).waitFor();
  await help.getByText('go to Overview').waitFor();
  await page.keyboard.press('Escape');
  await help.waitFor({ state: 'detached' });
  // j and Enter open the newest document.
  await page.getByRole('link', { name: 'The ferry sails again' }).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/documents/*');
  await page.keyboard.press('g');
  await page.keyboard.press('o');
  await page.waitForURL((url) => url.pathname === '/');
  await expect.poll(() => focused(page)).toBe('Overview');
  for (const [key, screen] of [
    ['s', 'sources'],
    ['c', 'channels'],
    ['f', 'frontier'],
    ['d', 'domains'],
    ['a', 'documents'],
  ] as const) {
    if (!hasScreen(screen)) continue;
    await page.keyboard.press('g');
    await page.keyboard.press(key);
    await page.waitForURL((url) => url.pathname === `/${screen}`);
  }
  // What is typed into a field is text.
  await page.keyboard.press('/');
  const before = pathOf(page);
  await page.keyboard.type('g o p ?');
  expect(pathOf(page)).toBe(before);
  await page.getByText('Live', { exact: true }).waitFor();
  await page.close();
});

// The navigation names only screens that are there.
test.skipIf(!hasScreen('channels') || !hasScreen('domains'))('counts in the navigation follow', async () => {
  const page = await openReady('/');
  const nav = page.getByRole('navigation', { name: 'Screens' });
  await nav.getByRole('link', { name: 'Domains 1 blocked' }).waitFor();
  await nav.getByRole('link', { name: 'Channels', exact: true }).waitFor();
  await failFeeds(lab.api.database.pool, feeds);
  await lab.api.ask('POST', '/api/v1/domains/shut.test/block', { reason: 'they asked us to' });
  await nav.getByRole('link', { name: 'Domains 2 blocked' }).waitFor();
  await nav.getByRole('link', { name: 'Channels 2 failing' }).waitFor();
  await expect.poll(() => findBarriers(page)).toEqual([]);
  await page.close();
});

test('pages complain of nothing', () => {
  expect(lab.complaints).toEqual([]);
});
