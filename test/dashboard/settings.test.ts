import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadSwitches } from '../../src/switches/index.ts';
import { type DashboardLab, findBarriers, overflowOf, startDashboardLab } from './lab.ts';

let lab: DashboardLab;
beforeAll(async () => {
  lab = await startDashboardLab({
    settings: { 'webhook.url': 'https://hooks.example/', 'webhook.secret': 'a planted secret' },
  });
}, 60_000);
afterAll(() => lab?.close());

test('settings are found by what they are for, with their origins and without their secrets', async () => {
  const page = await lab.open('/settings');
  const table = page.getByRole('table', { name: 'Settings' });
  await table.getByText('api.port').waitFor();
  await page.getByLabel('Find a setting').fill('webhook secret');
  const row = table.getByRole('row').filter({ hasText: 'webhook.secret' });
  await expect.poll(() => table.getByRole('row').count()).toBe(2);
  expect((await row.getByRole('cell').allTextContents()).slice(1)).toEqual([
    '******** secret',
    'command line',
    'not set',
  ]);
  await expect.poll(() => page.content()).not.toContain('planted');
  await page.getByLabel('Find a setting').fill('gravity');
  await page.getByRole('heading', { name: 'No setting fits' }).waitFor();
  await page.getByRole('button', { name: 'Show all settings' }).click();
  await page.getByLabel('Only what differs from the default').check();
  await table.getByText('webhook.url').waitFor();
  await expect.poll(() => table.getByText('log.level').count()).toBe(0);
  await expect.poll(() => table.getByRole('row').count()).toBeLessThan(10);
  await expect.poll(() => findBarriers(page)).toEqual([]);
  await page.context().close();
});

test('a switch is turned off with a reason and on again, and the database says so', async () => {
  const page = await lab.open('/settings?tab=switches');
  const row = page.getByRole('row').filter({ hasText: 'polling' });
  await row.getByRole('button', { name: 'Switch off' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Why?').fill('the disk is full');
  await dialog.getByRole('button', { name: 'Switch off' }).click();
  await row.getByText('off', { exact: true }).waitFor();
  await row.getByText('by token:test admin').waitFor();
  await expect.poll(async () => (await loadSwitches(lab.api.database.pool)).polling).toBe(false);
  expect((await lab.api.ask('GET', '/api/v1/audit')).body.items[0]).toMatchObject({
    actor: 'token:test admin',
    action: 'switch',
    subject: 'polling',
    detail: { on: false, reason: 'the disk is full' },
  });
  await row.getByRole('button', { name: 'Switch on' }).click();
  await dialog.getByRole('button', { name: 'Switch on' }).click();
  await row.getByText('on', { exact: true }).waitFor();
  await expect.poll(async () => (await loadSwitches(lab.api.database.pool)).polling).toBe(true);
  await page.context().close();
});

test('a token is made, works, and works no more once it is revoked', async () => {
  const page = await lab.open('/settings?tab=tokens');
  const statusOf = async (token: string): Promise<number> =>
    (await fetch(`${lab.api.address}/api/v1/sources`, { headers: { authorization: `Bearer ${token}` } }))
      .status;
  await page.getByLabel('Name').fill('press review');
  await page.getByLabel('Role').selectOption('write');
  await page.getByLabel('Ends').selectOption('30');
  await page.getByRole('button', { name: 'Make the token' }).click();
  const dialog = page.getByRole('dialog', { name: 'Token "press review"' });
  const token = await dialog.getByLabel('The new token').inputValue();
  await dialog.getByRole('button', { name: 'Copy' }).click();
  await dialog.getByText(/^(Copied\.|It is selected)/).waitFor();
  await expect.poll(() => findBarriers(page)).toEqual([]);
  await expect.poll(() => statusOf(token)).toBe(200);
  await dialog.getByRole('button', { name: 'Close' }).click();
  // The list behind it may be there before it is gone.
  await dialog.waitFor({ state: 'detached' });
  const row = page.getByRole('row').filter({ hasText: 'press review' });
  await row.getByText('in 29 d').or(row.getByText('in 30 d')).waitFor();
  await expect.poll(() => page.content()).not.toContain(token);
  // A name is used once.
  await page.getByLabel('Name').fill('press review');
  await page.getByRole('button', { name: 'Make the token' }).click();
  await page.getByText('a token "press review" is in use').waitFor();
  await row.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke the token' }).click();
  await row.waitFor({ state: 'detached' });
  await expect.poll(() => statusOf(token)).toBe(401);
  await page.getByLabel('Show those that were revoked too').check();
  await row.getByText('revoked').waitFor();
  await expect.poll(() => row.getByRole('button').count()).toBe(0);
  await page.context().close();
});

test('a list is tried, told by its lines, and then imported; and exported again', async () => {
  const page = await lab.open('/settings?tab=lists', { role: 'write' });
  const count = async (): Promise<number> => (await lab.api.ask('GET', '/api/v1/sources')).body.items.length;
  const before = await count();
  const forReal = page.getByRole('button', { name: 'Import for real' });
  await expect.poll(() => forReal.isDisabled()).toBe(true);
  const list = page.getByLabel('or paste it here');
  await list.fill('https://one.example/\nhttps://two.example/\nnot an address at all\n');
  await page.getByRole('button', { name: 'Try it first' }).click();
  await page.getByRole('heading', { name: 'What would be done with 3 lines' }).waitFor();
  const bad = page.getByRole('table', { name: 'Lines that cannot be used' });
  await bad.getByRole('cell', { name: '3', exact: true }).waitFor();
  await bad.getByText('not an address at all', { exact: true }).waitFor();
  await expect.poll(() => findBarriers(page)).toEqual([]);
  await expect.poll(() => count()).toBe(before);
  // Another list has not been tried.
  await list.fill('https://one.example/\nhttps://two.example/\nhttps://three.example/\n');
  await expect.poll(() => forReal.isDisabled()).toBe(true);
  await page.getByRole('button', { name: 'Try it first' }).click();
  await page.getByRole('heading', { name: 'What would be done' }).waitFor();
  await forReal.click();
  await page.getByRole('heading', { name: 'What was done with 3 lines' }).waitFor();
  await expect.poll(() => count()).toBe(before + 3);
  // A file as it lies on a disk.
  await page.getByLabel('A file').setInputFiles({
    name: 'feeds.opml',
    mimeType: 'text/x-opml',
    buffer: Buffer.from(
      '<?xml version="1.0" encoding="ISO-8859-1"?><opml version="2.0"><body><outline text="Caf\u00e9" type="rss" xmlUrl="https://cafe.example/feed.xml" htmlUrl="https://cafe.example/"/></body></opml>',
      'latin1',
    ),
  });
  await page.getByRole('button', { name: 'Try it first' }).click();
  await page.getByRole('heading', { name: 'What would be done with' }).waitFor();
  await forReal.click();
  await page.getByRole('heading', { name: 'What was done' }).waitFor();
  const names = (await lab.api.ask('GET', '/api/v1/sources?q=cafe')).body.items;
  expect(names).toMatchObject([{ name: 'Caf\u00e9', url: 'https://cafe.example/' }]);
  await page.getByLabel('A file').setInputFiles([]);
  await list.fill('nothing\nat all');
  await page.getByRole('button', { name: 'Try it first' }).click();
  await page.getByText('list_unusable').waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'CSV' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('sources.csv');
  await page.context().close();
});

test('retention is told from the settings, and leads to them', async () => {
  const page = await lab.open('/settings?tab=retention');
  const row = page.getByRole('row').filter({ hasText: 'crawl log' });
  await row.getByText('30 days').waitFor();
  await row.getByRole('link', { name: 'retention.crawl_log_days' }).click();
  await page.getByRole('table', { name: 'Settings' }).getByText('retention.crawl_log_days').waitFor();
  await page.context().close();
});

test('who only reads sees neither buttons nor tokens nor settings', async () => {
  const page = await lab.open('/settings', { role: 'read', width: 360, scheme: 'dark' });
  const tabs = page.getByRole('navigation', { name: 'Parts of the settings' });
  await page.getByRole('table', { name: 'Switches' }).waitFor();
  await expect
    .poll(() => tabs.getByRole('link').allInnerTexts())
    .toEqual(['Switches', 'Import and export', 'About']);
  await expect.poll(() => page.locator('main').getByRole('button').count()).toBe(0);
  await expect.poll(() => findBarriers(page)).toEqual([]);
  await expect.poll(() => overflowOf(page)).toBe(0);
  await tabs.getByRole('link', { name: 'Import and export' }).click();
  await page.getByText('Importing sources needs the role write.').waitFor();
  await expect.poll(() => page.locator('main').getByRole('button').count()).toBe(0);
  await tabs.getByRole('link', { name: 'About' }).click();
  await page.getByText('0.0.0-test').waitFor();
  await expect.poll(() => page.getByText('make and revoke tokens').count()).toBe(0);
  await expect.poll(() => findBarriers(page)).toEqual([]);
  // The address of what is not offered shows nothing of it.
  await page.goto(`${lab.api.address}/settings?tab=tokens`);
  await page.getByRole('table', { name: 'Switches' }).waitFor();
  await expect.poll(() => page.getByText('Make a token').count()).toBe(0);
  await page.context().close();
});

test('every part fits a narrow page', async () => {
  for (const tab of ['config&find=retention', 'switches', 'tokens', 'lists', 'retention']) {
    const page = await lab.open(`/settings?tab=${tab}`, { width: 360, scheme: 'dark' });
    await page.locator('main table, main form').first().waitFor();
    expect(await findBarriers(page), tab).toEqual([]);
    await expect.poll(() => overflowOf(page), { message: tab }).toBe(0);
    await page.context().close();
  }
});

test('pages complain of nothing', () => {
  expect(lab.complaints).toEqual([]);
});
