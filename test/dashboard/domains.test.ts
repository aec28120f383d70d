import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { domainStatuses, mayMove, saveRobots } from '../../src/domains/index.ts';
import { findSlotProblems, rekeyDomains, submit } from '../../src/frontier/index.ts';
import { parseRobots } from '../../src/robots/index.ts';
import { domainIdentity } from '../../src/url/index.ts';
import { item, take } from '../frontier/fixtures.ts';
import { type DashboardLab, findBarriers, overflowOf, startDashboardLab } from './lab.ts';

let lab: DashboardLab;
beforeAll(async () => {
  lab = await startDashboardLab();
  const { pool } = lab.api.database;
  await submit(
    pool,
    Array.from({ length: 60 }, (_, n) => item(`d${n}.test`, 'story', { sourceId: null })),
  );
  await lab.api.ask('POST', '/api/v1/domains/d1.test/block', { reason: '<script>alert("spam")</script>' });
  const text =
    'User-agent: *\nDisallow: /private\nAllow: /private/open\nCrawl-delay: 90\n\nUser-agent: nosy\nDisallow: /\nSitemap: https://d2.test/map.xml\n';
  await saveRobots(
    pool,
    { ...domainIdentity('d2.test'), origin: 'https://d2.test' },
    {
      outcome: 'rules',
      httpStatus: 200,
      errorCode: null,
      rules: parseRobots(Buffer.from(text)),
      ttlMs: 86_400_000,
    },
  );
});
afterAll(async () => {
  if (lab) expect(await findSlotProblems(lab.api.database.pool)).toEqual([]);
  await lab?.close();
});

// As long as a page waits for anything.
const patience = { timeout: 20_000 };
const card = async (name: string) => (await lab.api.ask('GET', `/api/v1/domains/${name}`)).body;
const names = (page: Page): Promise<string[]> =>
  page.getByRole('table', { name: 'Domains' }).getByRole('row').getByRole('link').allInnerTexts();

test('the drawing shows the moves of the engine', async () => {
  const page = await lab.open('/domains');
  await page.getByRole('table', { name: 'Domains' }).waitFor();
  const drawn = await page
    .locator('path[data-move]')
    .evaluateAll((paths) => paths.map((path) => path.getAttribute('data-move')));
  const legal = domainStatuses.flatMap((from) =>
    domainStatuses.filter((to) => mayMove(from, to, 'engine')).map((to) => `${from} ${to}`),
  );
  expect(drawn.toSorted()).toEqual(legal.toSorted());
  // The same in words.
  await page.getByText('may become active, blocked, unreachable').first().waitFor({ state: 'attached' });
  await page.close();
});

test('a state is chosen by click and by keyboard, and the list is walked with keys', async () => {
  const page = await lab.open('/domains');
  const blocked = page.getByRole('button', { name: 'blocked 1' });
  await blocked.click();
  await expect.poll(() => names(page), patience).toEqual(['d1.test']);
  await page.getByText('1 in all').waitFor();
  // What somebody wrote is shown, not run.
  await page.getByText('<script>alert("spam")</script>').waitFor();
  await expect.poll(() => page.locator('main script').count()).toBe(0);
  await expect.poll(() => blocked.getAttribute('aria-pressed')).toBe('true');
  await blocked.press('Enter');
  await page.getByText('60 in all').waitFor();
  await page.getByRole('button', { name: 'pending 59' }).focus();
  await page.keyboard.press('Space');
  await page.getByText('59 in all').waitFor();
  await expect.poll(() => names(page), patience).not.toContain('d1.test');
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('Page 2').waitFor();
  await page.getByLabel('Name begins with').fill('d5');
  await page.getByLabel('Name begins with').press('Enter');
  await page.getByRole('button', { name: 'pending 11' }).waitFor();
  await page.getByRole('columnheader', { name: 'Documents' }).getByRole('button').click();
  await page.waitForURL(/sort=documents/);
  const sorted = await lab.api.ask('GET', '/api/v1/domains?q=d5&status=pending&sort=documents');
  const expected = sorted.body.items.map((one: { name: string }) => one.name) as string[];
  await expect.poll(() => names(page), patience).toEqual(expected);
  await page.getByRole('heading', { name: 'Domains', level: 1 }).focus();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: expected[0]!, exact: true }).waitFor();
  await page.close();
});

test('a name in letters of its own is shown and found as its readers write it', async () => {
  const { pool } = lab.api.database;
  await submit(pool, [item('xn--mnchen-3ya.example', 'story', { sourceId: null })]);
  const page = await lab.open('/domains?q=münchen');
  await expect.poll(() => names(page), patience).toEqual(['münchen.example']);
  await page.getByRole('link', { name: 'münchen.example' }).click();
  await page.getByRole('heading', { name: 'münchen.example', level: 1 }).waitFor();
  // As the web writes it, for whoever copies it.
  await page.getByText('xn--mnchen-3ya.example', { exact: true }).waitFor();
  await page.goto(`${lab.api.address}/frontier?domain=münchen.example`);
  await page.getByRole('link', { name: 'https://münchen.example/story' }).waitFor();
  await page.context().close();
});

test('one is blocked and reset, and its events come without a reload', async () => {
  const page = await lab.open('/domains/d3.test');
  await page.getByText('It was first seen').waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Block' }).click();
  const dialog = page.getByRole('dialog', { name: 'Block d3.test?' });
  await dialog.getByLabel('Why?').fill('nothing but spam');
  await dialog.getByRole('button', { name: 'Block' }).click();
  await page.getByText('d3.test is blocked.').waitFor();
  await page.getByText('It stays so until somebody resets it; nothing is tried.').waitFor();
  expect(await card('d3.test')).toMatchObject({
    status: 'blocked',
    reason: 'nothing but spam',
    isPermanent: true,
  });
  await expect.poll(() => page.getByRole('button', { name: 'Block' }).count()).toBe(0);

  await page.getByRole('link', { name: 'Events', exact: true }).click();
  const events = page.getByRole('list', { name: 'Events, newest first' });
  await events.getByText('nothing but spam').waitFor();
  // Somebody else, elsewhere.
  await lab.api.ask('POST', '/api/v1/domains/d3.test/reset', { reason: 'they mended it' });
  await events.getByText('they mended it').waitFor();
  await page.getByRole('button', { name: 'Block' }).waitFor();

  await page.getByRole('button', { name: 'Reset' }).click();
  const asked = page.getByRole('dialog', { name: 'Reset d3.test?' });
  await asked.getByLabel('Why?').fill('once more');
  await asked.getByLabel('Known articles are due again too').check();
  await asked.getByRole('button', { name: 'Reset' }).click();
  await page.getByText('d3.test was reset;').waitFor();
  await expect.poll(async () => (await card('d3.test')).status).toBe('pending');
  const audit = await lab.api.database.pool.query(
    `SELECT reason, actor FROM domain_events e JOIN domains d USING (bucket, domain_key) WHERE d.name = 'd3.test' ORDER BY e.at`,
  );
  expect(audit.rows).toMatchObject([
    { reason: 'nothing but spam' },
    { reason: 'they mended it' },
    { reason: 'once more' },
  ]);
  await page.close();
});

test('what is typed about one is not lost without a question', async () => {
  const page = await lab.open('/domains/d4.test');
  const question = page.getByRole('dialog', { name: 'Leave without saving?' });
  const delay = page.getByLabel('Delay in milliseconds');
  await delay.fill('7000');
  await page
    .getByRole('link', { name: 'Events', exact: true })
    .or(page.getByRole('tab', { name: 'Events' }))
    .click();
  await question.getByText('Settings of this domain are changed and not saved').waitFor();
  await page.keyboard.press('Escape');
  await question.waitFor({ state: 'detached' });
  expect(await delay.inputValue()).toBe('7000');
  await delay.fill('');
  await page
    .getByRole('link', { name: 'Events', exact: true })
    .or(page.getByRole('tab', { name: 'Events' }))
    .click();
  await page.waitForURL(/tab=events/);
  await page.context().close();
});

test('one gets its own delay, budget and fetchers, and gives them back', async () => {
  const page = await lab.open('/domains/d4.test');
  await page.getByLabel('Delay in milliseconds').fill('2500');
  await page.getByLabel('Budget in pages a run').fill('70');
  await page.getByLabel('Group of fetchers').fill('slow');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The settings of d4.test are saved.').waitFor();
  await page.getByText('an operator set 2.5 s', { exact: true }).waitFor();
  await page.getByText('0 of 70 pages used').waitFor();
  await page.getByText('only the group "slow"').waitFor();
  expect(await card('d4.test')).toMatchObject({
    delay: { configuredMs: 2500 },
    budget: { max: 70 },
    pool: 'slow',
  });
  await page.getByLabel('Delay in milliseconds').fill('');
  await page.getByLabel('Group of fetchers').fill('');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('as configured for all domains', { exact: true }).waitFor();
  expect(await card('d4.test')).toMatchObject({
    delay: { configuredMs: null },
    budget: { max: 70 },
    pool: 'default',
  });
  await page.close();
});

test('what tells its addresses apart is changed, and what waits follows', async () => {
  const { pool } = lab.api.database;
  await submit(pool, [
    item('d8.test', 'a?sid=1', { sourceId: null }),
    item('d8.test', 'a?sid=2', { sourceId: null }),
  ]);
  const page = await lab.open('/domains/d8.test');
  const change = page.getByRole('button', { name: 'Change the rules' });
  await change.waitFor();
  await expect.poll(() => change.isDisabled()).toBe(true);
  await page.getByLabel('Parameters to keep').fill('Ref');
  await page.getByLabel('Parameters to strip').fill('sid, two&words');
  await change.click();
  await page.getByText('"two&words" is not the name of a parameter').waitFor();
  await page.getByLabel('Parameters to strip').fill('sid, session');
  await page.getByLabel('/a and /a/ are two pages').check();
  await change.click();
  await page.getByText('What waits in d8.test is given its key by the new rules.').waitFor();
  await page.getByText('the parameter ref tells pages apart').waitFor();
  await page.getByText('what waits is given its key by them, so far 0 URLs moved').waitFor();
  await expect.poll(() => page.getByLabel('Parameters to keep').inputValue()).toBe('ref');
  expect(await card('d8.test')).toMatchObject({
    pagesKnown: 3,
    rules: { keepTrailingSlash: true, stripParameters: ['session', 'sid'], keepParameters: ['ref'] },
  });
  await rekeyDomains(pool);
  await page.getByText('so far 1 URL moved and 1 joined another').waitFor();
  expect(await card('d8.test')).toMatchObject({ pagesKnown: 2, rekey: { moved: 1, merged: 1 } });
  expect(await findBarriers(page)).toEqual([]);
  await page.close();
});

test('one is taken from its worker', async () => {
  await take(lab.api.database.db, { slots: 100, batch: 1 });
  const page = await lab.open('/domains?q=d7.');
  await page.getByText('held by').waitFor();
  await page.getByRole('link', { name: 'd7.test' }).click();
  await page.getByText('with 1 URL in hand').first().waitFor();
  await page.getByRole('button', { name: 'Release' }).click();
  await page
    .getByRole('dialog', { name: 'Take d7.test from its worker?' })
    .getByRole('button', { name: 'Release' })
    .click();
  await page.getByText('It was taken from w1.').waitFor();
  await page.getByText('nobody', { exact: true }).waitFor();
  await expect.poll(async () => (await card('d7.test')).lease).toBe(null);
  await page.close();
});

test('robots.txt is shown as it was read, and addresses are tried on it', async () => {
  const page = await lab.open('/domains/d2.test?tab=robots');
  await page.getByRole('heading', { name: 'https://d2.test/robots.txt' }).waitFor();
  await page.getByText('It asks us for a gap of 90 s (line 4), which is cut to 60 s.').waitFor();
  await page.getByRole('heading', { name: 'For everybody (*)' }).waitFor();
  await page.getByText('https://d2.test/map.xml').waitFor();
  const tell = async (path: string, agent: string): Promise<string | null> => {
    await page.getByLabel('Address or path').fill(path);
    await page.getByLabel('As', { exact: true }).fill(agent);
    await page.getByRole('button', { name: 'Try', exact: true }).click();
    await page.getByText(`as ${agent || 'Outrider'}`).waitFor();
    return page.getByRole('status').filter({ hasText: ' as ' }).textContent();
  };
  expect(await tell('/private/a', '')).toContain('line 2, Disallow: /private');
  expect(await tell('https://d2.test/private/open', 'other')).toContain('allowed');
  expect(await tell('/', 'nosy')).toContain('line 7, Disallow: /');
  await page.getByLabel('Address or path').fill('https://elsewhere.test/');
  await page.getByRole('button', { name: 'Try', exact: true }).click();
  await page.getByRole('alert').getByText('is no address of d2.test').waitFor();
  await expect.poll(() => findBarriers(page)).toEqual([]);
  await page.goto(`${lab.api.address}/domains/d9.test?tab=robots`);
  await page.getByText('robots.txt was not read yet').waitFor();
  await page.goto(`${lab.api.address}/domains/nobody.test`);
  await page.getByRole('alert').getByText('domain_unknown').waitFor();
  await page.close();
});

test('who may only read has no button that changes anything', async () => {
  const page = await lab.open('/domains/d1.test', { role: 'read' });
  await page.getByRole('heading', { name: 'In words' }).waitFor();
  await expect.poll(() => page.locator('main').getByRole('button').count()).toBe(0);
  await expect.poll(() => page.getByLabel('Delay in milliseconds').count()).toBe(0);
  await expect.poll(() => page.getByLabel('Parameters to keep').count()).toBe(0);
  await page.close();
});

test.each([
  [1280, 'light'],
  [360, 'dark'],
] as const)('nobody is kept out, at %i px in the %s', async (width, scheme) => {
  const page = await lab.open('/domains', { width, scheme });
  for (const [path, ready] of [
    ['/domains?q=d5', 'in all'],
    ['/domains/d1.test', 'In words'],
    ['/domains/d3.test?tab=events', 'they mended it'],
  ] as const) {
    await page.goto(`${lab.api.address}${path}`);
    await page.getByText(ready).first().waitFor();
    expect(await findBarriers(page), path).toEqual([]);
    await expect.poll(() => overflowOf(page), { message: path }).toBe(0);
  }
  await page.close();
});

test('pages complain of nothing', () => {
  expect(lab.complaints).toEqual([]);
});
