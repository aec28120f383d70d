import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { shareBrowser } from './browser.ts';
import { type CutProxy, startCutProxy } from './cut-proxy.ts';
import {
  type DashboardLab,
  findBarriers,
  openContext,
  openPage,
  overflowOf,
  startDashboardLab,
} from './lab.ts';
import { addDocuments, addFeeds, startWorkers } from './overview-data.ts';

let lab: DashboardLab;
let proxy: CutProxy;
let feeds: number[];
beforeAll(async () => {
  lab = await startDashboardLab();
  proxy = await startCutProxy(lab.api.address);
  const { pool } = lab.api.database;
  await startWorkers(pool);
  const { body } = await lab.api.ask('POST', '/api/v1/sources', {
    url: 'https://herald.example/',
    name: 'The Herald',
  });
  feeds = await addFeeds(pool, body.id as number, 1);
  const titles = Array.from({ length: 40 }, (_, n) => `The ferry sails for the ${n + 1}. time`);
  await addDocuments(pool, titles);
  await lab.api.index();
});
afterAll(async () => {
  await proxy?.close();
  await lab?.close();
});

const focused = (page: Page): Promise<string> =>
  page.evaluate('document.activeElement.textContent.trim()') as Promise<string>;
const scrolled = (page: Page): Promise<number> => page.evaluate('Math.round(scrollY)') as Promise<number>;
const go = (page: Page, name: string): Promise<void> =>
  page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name, exact: true }).click();

test('a screen whose code could not be had is shown when the server is back', async () => {
  const context = await openContext(await shareBrowser(), proxy.address, { token: lab.api.tokens.admin });
  // What goes wrong while nobody answers is told by the browser too: only what is shown counts here.
  const page = await openPage(context, `${proxy.address}/sources`, []);
  await page.getByRole('link', { name: 'The Herald' }).waitFor();
  proxy.setDown(true);
  const told = page.getByText('This screen could not be loaded: the server does not answer.');
  await go(page, 'Jobs');
  await told.waitFor();
  // Once more: the same is not said twice.
  await go(page, 'Jobs');
  await page.getByText('No connection').waitFor();
  await expect.poll(() => told.count()).toBe(1);
  await page.getByRole('heading', { name: 'Sources', level: 1 }).waitFor();
  proxy.setDown(false);
  await page.getByText('Live', { exact: true }).waitFor();
  await go(page, 'Jobs');
  await page.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/jobs');
  await context.close();
});

test('what is asked only once is asked again when the server is back', async () => {
  const context = await openContext(await shareBrowser(), proxy.address, { token: lab.api.tokens.admin });
  const page = await openPage(context, `${proxy.address}/settings?tab=about`, []);
  await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  proxy.setDown(true);
  await page.getByText('No connection').waitFor();
  await page.getByRole('link', { name: 'Retention' }).click();
  const problem = page.getByRole('alert').filter({ hasText: 'The server does not answer.' });
  await problem.waitFor();
  proxy.setDown(false);
  await problem.waitFor({ state: 'detached' });
  await page.getByText('Documents and their versions').waitFor();
  await context.close();
});

test('a mistyped address shows a person the way, and a program that there is nothing', async () => {
  const page = await lab.open('/sorces?x=1');
  await page.getByRole('heading', { name: 'There is nothing here' }).waitFor();
  await page.getByRole('link', { name: 'Go to the overview' }).click();
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  const ask = async (path: string, accept: string): Promise<[number, string]> => {
    const answer = await fetch(`${lab.api.address}${path}`, { headers: { accept } });
    await answer.arrayBuffer();
    return [answer.status, answer.headers.get('content-type') ?? ''];
  };
  const person = 'text/html,application/xhtml+xml,*/*;q=0.8';
  expect(await ask('/sorces', person)).toEqual([404, 'text/html; charset=utf-8']);
  for (const [path, accept] of [
    ['/sorces', '*/*'],
    ['/assets/gone.js', person],
    ['/api/v1/sorces', person],
  ] as const)
    expect(await ask(path, accept)).toEqual([404, 'application/problem+json; charset=utf-8']);
  await page.close();
});

test('a list whose place is no longer known begins again', async () => {
  const page = await lab.open('/sources?cursor=from-another-database&page=3');
  const problem = page.getByRole('alert').filter({ hasText: 'cursor_invalid' });
  await problem.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('link', { name: 'The Herald' }).waitFor();
  expect(new URL(page.url()).search).toBe('');
  await page.close();
});

test('a list keeps its place: beside a document, and on the way back; another page begins at its top', async () => {
  const page = await lab.open('/documents', { height: 700 });
  const titles = page.getByRole('table', { name: 'Documents' }).getByRole('link');
  await expect.poll(() => titles.count()).toBe(25);
  await titles.nth(20).scrollIntoViewIfNeeded();
  const place = await scrolled(page);
  expect(place).toBeGreaterThan(300);
  await titles.nth(20).click();
  const opened = page.getByRole('article');
  await opened.getByRole('heading', { level: 2 }).waitFor();
  await expect.poll(() => scrolled(page)).toBeGreaterThan(300);
  await page.goBack();
  await opened.waitFor({ state: 'detached' });
  await go(page, 'Sources');
  await page.getByRole('link', { name: 'The Herald' }).waitFor();
  await expect.poll(() => scrolled(page)).toBe(0);
  // The answer comes late: the page is as high as before only then.
  await page.route('**/api/v1/documents?*', async (route) => {
    const answer = await route.fetch();
    await page.evaluate('new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)))');
    await route.fulfill({ response: answer });
  });
  await page.goBack();
  await expect.poll(() => titles.count()).toBe(25);
  await expect.poll(() => scrolled(page)).toBe(place);
  await page.unroute('**/api/v1/documents?*');
  const turner = page.getByRole('navigation', { name: 'Pages' });
  await turner.getByRole('button', { name: 'Next' }).click();
  await turner.getByText('Page 2').waitFor();
  await expect.poll(() => scrolled(page)).toBe(0);
  await page.close();
});

test('the focus goes on to the heading that comes when a thing is loaded', async () => {
  const page = await lab.open('/sources');
  await page.getByRole('link', { name: 'The Herald' }).click();
  await page.getByRole('heading', { name: 'The Herald', level: 1 }).waitFor();
  await expect.poll(() => focused(page)).toBe('The Herald');
  await go(page, 'Channels');
  await page.locator(`a[href="/channels/${feeds[0]}"]`).click();
  await expect.poll(() => focused(page)).toContain('herald.example/0.xml');
  await page.close();
});

test('an address that leads to nothing does not show what was there before', async () => {
  const page = await lab.open('/sources/the_herald');
  await page.getByRole('button', { name: 'Disable' }).waitFor();
  const push = (path: string): Promise<unknown> =>
    page.evaluate(
      `document.querySelector('#app').__vue_app__.config.globalProperties.$router.push('${path}')`,
    );
  for (const [known, unknown, button] of [
    ['/sources/the_herald', '/sources/gone', 'Disable'],
    [`/channels/${feeds[0]}`, '/channels/987654', 'Poll now'],
    ['/domains/gazette.example', '/domains/gone.example', 'Block'],
  ] as const) {
    await push(known);
    const act = page.getByRole('button', { name: button, exact: true });
    await act.waitFor();
    await push(unknown);
    await page
      .getByRole('alert')
      .first()
      .getByText(/_unknown$/)
      .waitFor();
    expect(await act.count()).toBe(0);
    expect(await page.getByText('What is shown is from before').count()).toBe(0);
  }
  await page.close();
});

test('a filter that is refused shows no rows of the one before it', async () => {
  const page = await lab.open('/frontier', { width: 360 });
  const table = page.getByRole('table', { name: 'URLs' });
  await table.waitFor();
  await page.getByLabel('Source', { exact: true }).fill('nonesuch');
  await page.keyboard.press('Tab');
  await page.getByRole('alert').getByText('source_unknown').waitFor();
  await table.waitFor({ state: 'detached' });
  await page.getByLabel('Source', { exact: true }).fill('');
  await page.keyboard.press('Tab');
  await table.waitFor();
  // The navigation of a narrow page goes away, also where it leads to the screen that is shown.
  const nav = page.getByRole('navigation', { name: 'Screens' });
  const menu = page.getByRole('button', { name: 'Menu' });
  await menu.click();
  await nav.getByRole('link', { name: /^Frontier/ }).click();
  await nav.waitFor({ state: 'hidden' });
  await menu.click();
  await nav.waitFor();
  await page.keyboard.press('Escape');
  await nav.waitFor({ state: 'hidden' });
  await page.close();
});

test('an address with a filter that there is not says so, and leads out of it', async () => {
  const page = await lab.open('/sources?status=bogus&q=herald');
  const alert = page.getByRole('alert');
  await alert.getByText('a filter or an order that this list does not know').waitFor();
  await alert.getByText('must be one of ok, failing, empty, searching, disabled').waitFor();
  const status = page.getByLabel('Status', { exact: true });
  expect(await status.inputValue()).toBe('bogus');
  expect(await findBarriers(page)).toEqual([]);
  await page.getByRole('button', { name: 'Clear the filters' }).click();
  await page.getByRole('table', { name: 'Sources' }).waitFor();
  await alert.waitFor({ state: 'detached' });
  expect([new URL(page.url()).search, await status.inputValue()]).toEqual(['', '']);
  // Several states at once are none of the choices, and are shown all the same.
  await page.goto(`${lab.api.address}/jobs?status=failed,paused`);
  await page.getByText('No job matches').waitFor();
  expect(await page.getByLabel('Status', { exact: true }).inputValue()).toBe('failed,paused');
  await page.close();
});

test('a session that ends while somebody looks says so, and signing in goes on there', async () => {
  const made = await lab.api.ask('POST', '/api/v1/tokens', { name: 'guest', role: 'read' });
  const context = await openContext(await shareBrowser(), lab.api.address, {
    token: made.body.token as string,
  });
  const page = await openPage(context, `${lab.api.address}/sources`, []);
  await page.getByRole('link', { name: 'The Herald' }).waitFor();
  await lab.api.ask('DELETE', `/api/v1/tokens/${made.body.id}`);
  await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Channels' }).click();
  await page.getByText('Your session has ended.').waitFor();
  await expect.poll(() => findBarriers(page)).toEqual([]);
  await page.getByLabel('Or paste an API token').fill(lab.api.tokens.read);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Channels', level: 1 }).waitFor();
  await page.locator('summary').first().click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in to Outrider' }).waitFor();
  expect(await page.getByText('Your session has ended.').count()).toBe(0);
  await context.close();
});

test('times in full and windows of every width move tables, and never the page', async () => {
  const page = await lab.open('/');
  await page.evaluate(`localStorage.setItem('outrider.times', 'utc')`);
  for (const width of [360, 790, 1024, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    for (const path of [
      '/',
      '/sources',
      '/channels',
      '/frontier',
      '/domains',
      '/documents',
      '/state?tab=database',
    ]) {
      await page.goto(`${lab.api.address}${path}`);
      await page.getByRole('table').first().waitFor();
      await expect.poll(() => overflowOf(page), { message: `${path} at ${width} px` }).toBe(0);
    }
  }
  await expect.poll(() => findBarriers(page)).toEqual([]);
  await page.close();
});

test('a title is written in its own direction, and a name that cannot be broken stays in its place', async () => {
  const arabic = 'خطة جديدة (v2.0) لتطوير المدارس';
  await addDocuments(lab.api.database.pool, [arabic]);
  await lab.api.index();
  const page = await lab.open('/');
  const title = page.getByRole('link', { name: arabic }).locator('bdi');
  await expect.poll(() => title.evaluate((one) => one.matches(':dir(rtl)'))).toBe(true);
  await page.goto(`${lab.api.address}/settings?tab=tokens`);
  await page.getByLabel('Name').fill('x'.repeat(100));
  await page.getByRole('button', { name: 'Make the token' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('The new token').waitFor();
  await expect.poll(() => dialog.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0);
  await page.close();
});

test('what is done to all that match is done to all of them, with their number and a question', async () => {
  const { pool } = lab.api.database;
  const many = 1201;
  await pool.query(
    `INSERT INTO sources (slug, name, url) SELECT 'many_' || n, 'Many ' || n, 'https://many' || n || '.example/'
       FROM generate_series(1, $1) AS n`,
    [many],
  );
  const counted = async (where: string): Promise<number> =>
    (
      await pool.query<{ n: number }>(
        `SELECT count(*)::integer AS n FROM sources WHERE slug LIKE 'many%' AND ${where}`,
      )
    ).rows[0]!.n;
  const page = await lab.open('/sources?q=Many');
  const bulk = page.getByRole('group', { name: 'With what is selected' });
  const ask = async (name: string): Promise<void> => {
    await page.getByText('Many 1', { exact: true }).waitFor();
    await page.getByLabel('Select all rows of this page').check();
    await page.getByRole('button', { name: /^Select all .*matching$/ }).click();
    await bulk.getByRole('button', { name, exact: true }).click();
  };
  await ask('Disable');
  const disable = page.getByRole('dialog', { name: 'Disable 1,201 sources?' });
  await disable.getByLabel(/^Why/).fill('they have closed down');
  await disable.getByRole('button', { name: 'Disable 1,201 sources' }).click();
  await page.getByText('1,201 sources are disabled.').waitFor();
  expect(await counted('NOT enabled')).toBe(many);
  // What is declined is not done.
  await ask('Delete');
  await page.getByRole('dialog', { name: 'Delete 1,201 sources?' }).waitFor();
  await page.keyboard.press('Escape');
  await bulk.getByRole('button', { name: 'Enable', exact: true }).click();
  // It tells how far it is, and whoever stops it is told what is left as it was.
  let calls = 0;
  let goOn = (): void => undefined;
  await page.route('**/api/v1/sources/actions', async (route) => {
    calls += 1;
    if (calls === 3)
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
    await route.continue();
  });
  await page
    .getByRole('dialog', { name: 'Enable 1,201 sources?' })
    .getByRole('button', { name: 'Enable 1,201 sources' })
    .click();
  await bulk.getByText('400 of 1,201 done').waitFor();
  await bulk.getByRole('button', { name: 'Stop' }).click();
  goOn();
  await page.getByText('600 sources go on.').waitFor();
  await page.getByText('Stopped: 601 others are as before.').waitFor();
  expect(await counted('enabled')).toBe(600);
  await page.context().close();
});

test('what is said while a dialog is open can be read and dismissed there, and stays when it closes', async () => {
  const page = await lab.open(`/channels/${feeds[0]}`);
  await page.route('**/api/v1/channels/*', (route) =>
    route.request().method() === 'PATCH' ? route.abort() : route.continue(),
  );
  await page.getByRole('button', { name: 'Change' }).click();
  const dialog = page.getByRole('dialog', { name: 'Change this channel' });
  const said = page.getByText('The server does not answer.');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await said.waitFor();
  // Clicked as a person does: what lies over it would take the click.
  await page.getByRole('button', { name: 'Dismiss' }).click();
  await said.waitFor({ state: 'detached' });
  await dialog.getByRole('button', { name: 'Save' }).click();
  await said.waitFor();
  expect(await findBarriers(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await said.waitFor();
  await page.getByRole('button', { name: 'Dismiss' }).click();
  await said.waitFor({ state: 'detached' });
  await page.context().close();
});

test('pages complain of nothing', () => {
  expect(lab.complaints).toEqual([]);
});
