import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DashboardLab, findBarriers, overflowOf, startDashboardLab } from './lab.ts';

let lab: DashboardLab;
const names = ['Herald', 'Coast Daily', 'Valley Post', 'Mountain Echo'];
beforeAll(async () => {
  lab = await startDashboardLab();
  for (const [index, name] of names.entries()) {
    const url = `https://paper-${index}.example/`;
    await lab.api.ask('POST', '/api/v1/sources', {
      url,
      name,
      ingestionMode: index === 2 ? 'spider' : 'feed',
    });
    await lab.api.ask('POST', '/api/v1/channels', { source: slugOf(name), url: `${url}feed` });
  }
  await lab.api.database.pool.query("UPDATE discoveries SET finished_at = now(), state = 'nothing'");
  await lab.api.database.pool.query(
    `INSERT INTO channel_state (bucket, channel_id, errors_in_row, error_kind, failing_since)
     SELECT bucket, id, 4, 'http_404', now() - interval '3 hours' FROM channels WHERE url LIKE '%paper-1%'`,
  );
}, 120_000);
afterAll(() => lab?.close());

const slugOf = (name: string): string => name.toLowerCase().replace(' ', '_');
const rows = async (sql: string) => (await lab.api.database.pool.query(sql)).rows;

test('the list is filtered by the address, and says what is wrong with whom', async () => {
  const page = await lab.open('/sources');
  const table = page.getByRole('table', { name: 'Sources' });
  await table.getByRole('link', { name: 'Herald' }).waitFor();
  await expect.poll(() => table.getByRole('row').count()).toBe(5);
  await page.getByText('4 sources').waitFor();
  // Fourteen days without a document are told as such.
  await table
    .getByRole('img', { name: /^0 documents in 14 days/ })
    .first()
    .waitFor();
  await page.setViewportSize({ width: 900, height: 800 });
  await expect.poll(() => overflowOf(page)).toBe(0);
  await page.setViewportSize({ width: 1280, height: 800 });
  await expect.poll(() => overflowOf(page)).toBe(0);
  await expect.poll(() => findBarriers(page)).toEqual([]);
  await page.getByLabel('Status').selectOption('failing');
  await table.getByRole('link', { name: '1 of 1 fail' }).waitFor();
  await expect.poll(() => table.getByRole('row').count()).toBe(2);
  expect(page.url()).toContain('status=failing');
  await page.getByLabel('Status').selectOption('');
  await page.getByLabel('Search').fill('valley');
  await page.waitForURL(/q=valley/);
  await expect.poll(() => table.getByRole('row').count()).toBe(2);
  await table.getByText('links').waitFor();
  await page.getByLabel('Search').fill('nobody');
  await page.getByRole('heading', { name: 'No source matches' }).waitFor();
  await page.getByRole('link', { name: 'Show all sources' }).click();
  await table.getByRole('link', { name: 'Mountain Echo' }).waitFor();
  await page.context().close();
});

test('sources are disabled and enabled with the keyboard and in bulk', async () => {
  const page = await lab.open('/sources');
  const table = page.getByRole('table', { name: 'Sources' });
  await table.getByRole('link', { name: 'Herald' }).waitFor();
  for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key);
  await page.getByText('2 sources selected').waitFor();
  const bulk = page.getByRole('group', { name: 'With what is selected' });
  await bulk.getByRole('button', { name: 'Disable' }).click();
  const dialog = page.getByRole('dialog', { name: 'Disable 2 sources?' });
  await dialog.getByLabel(/Why/).fill('too noisy');
  await dialog.getByRole('button', { name: 'Disable 2 sources' }).click();
  await page.getByText('2 sources are disabled.').waitFor();
  await table.getByText('too noisy').first().waitFor();
  expect(await rows('SELECT enabled, disable_reason AS why FROM sources ORDER BY id LIMIT 3')).toEqual([
    { enabled: false, why: 'too noisy' },
    { enabled: false, why: 'too noisy' },
    { enabled: true, why: null },
  ]);
  // Everything that matches, with the number said before.
  await page.getByLabel('Status').selectOption('disabled');
  await expect.poll(() => table.getByRole('row').count()).toBe(3);
  await page.getByLabel('Select row 1').check();
  await bulk.getByRole('button', { name: /Select all/ }).click();
  await bulk.getByRole('button', { name: 'Enable' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Enable 2 sources' }).click();
  await page.getByRole('heading', { name: 'No source matches' }).waitFor();
  await expect.poll(() => rows('SELECT FROM sources WHERE NOT enabled')).toEqual([]);
  await page.goto(page.url().split('?')[0]!);
  await table.getByRole('link', { name: 'Herald' }).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Herald', level: 1 }).waitFor();
  await page.context().close();
});

test('settings are saved and say what changed; what the server refuses stands at the form', async () => {
  const page = await lab.open('/sources/herald?tab=settings');
  await page.getByLabel('Priority').fill('9');
  await page.getByLabel('Images', { exact: true }).selectOption('store');
  await page.getByLabel('Never addresses with').fill('/sport/\n/ads/');
  await page.getByLabel('Fixed interval').selectOption('true');
  await page.getByRole('button', { name: 'Save settings' }).click();
  await page.getByText('Saved. Priority: 5 → 9; Never addresses with: not set → 2 lines').waitFor();
  const stored = { exclude: ['/sport/', '/ads/'], fixedInterval: true, images: 'store' };
  expect(await rows(`SELECT priority, settings FROM sources WHERE slug = 'herald'`)).toEqual([
    { priority: 9, settings: stored },
  ]);
  // Empty takes a setting back; a pattern that nobody can match is refused, and nothing is lost.
  await page.getByLabel('Images', { exact: true }).selectOption('');
  await page.getByLabel('Only addresses with').fill('/news/(');
  await page.getByRole('button', { name: 'Save settings' }).click();
  const problem = page
    .getByRole('alert')
    .filter({ hasText: 'settings.include has a pattern nobody can match' });
  await problem.getByText('settings_invalid').waitFor();
  await expect.poll(() => findBarriers(page)).toEqual([]);
  await page.getByLabel('Only addresses with').fill('/news/');
  await page.getByRole('button', { name: 'Save settings' }).click();
  await page.getByText('Images: store them → as configured').last().waitFor();
  const { images: _images, ...kept } = stored;
  await expect
    .poll(async () => (await rows(`SELECT settings FROM sources WHERE slug = 'herald'`))[0].settings)
    .toEqual({ ...kept, include: ['/news/'] });
  await page.context().close();
});

test('what is typed and not saved is not lost without a question', async () => {
  const page = await lab.open('/sources/herald?tab=settings');
  const tab = (name: string) =>
    page.getByRole('link', { name, exact: true }).or(page.getByRole('tab', { name }));
  const question = page.getByRole('dialog', { name: 'Leave without saving?' });
  const priority = page.getByLabel('Priority');
  await priority.fill('2');
  await tab('Selectors').click();
  await question.getByText('Settings of this source are changed and not saved').waitFor();
  expect(await findBarriers(page)).toEqual([]);
  await question.getByRole('button', { name: 'Cancel' }).click();
  await question.waitFor({ state: 'detached' });
  expect([await priority.inputValue(), new URL(page.url()).search]).toEqual(['2', '?tab=settings']);
  await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: /^Jobs/ }).click();
  await question.getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor();
  // Nothing is asked where nothing is typed, or all of it is saved; the browser asks before a tab is closed.
  await page.goto(`${lab.api.address}/sources/herald?tab=selectors`);
  await page.getByLabel('Author').fill('.byline');
  await page.getByText('What is changed is not saved yet.').waitFor();
  const asked: string[] = [];
  page.on('dialog', (dialog) => {
    asked.push(dialog.type());
    void dialog.accept();
  });
  await page.reload();
  await page.getByText('Nothing is changed.').waitFor();
  expect(asked).toEqual(['beforeunload']);
  // Somebody else saves meanwhile: the form that nobody has touched shows it.
  await lab.api.ask('PATCH', '/api/v1/sources/herald', { settings: { selectors: { title: 'h2' } } });
  await expect.poll(() => page.getByLabel('Title').inputValue()).toBe('h2');
  await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: /^Jobs/ }).click();
  await page.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor();
  expect(asked).toEqual(['beforeunload']);
  await lab.api.ask('PATCH', '/api/v1/sources/herald', { settings: { selectors: null } });
  await page.context().close();
});

test('the list is sorted by its columns, and back', async () => {
  const page = await lab.open('/sources');
  const table = page.getByRole('table', { name: 'Sources' });
  await table.waitFor();
  const names = async (): Promise<string[]> =>
    (await table.getByRole('row').locator('bdi').allInnerTexts()).map((name) => name.toLowerCase());
  const added = await names();
  const sorted = added.toSorted();
  expect(sorted).not.toEqual(added);
  await table.getByRole('button', { name: 'Source' }).click();
  await expect.poll(names).toEqual(sorted);
  await expect
    .poll(() => table.getByRole('columnheader', { name: 'Source' }).getAttribute('aria-sort'))
    .toBe('ascending');
  expect(new URL(page.url()).search).toBe('?sort=name');
  await table.getByRole('button', { name: 'Source' }).click();
  await expect.poll(names).toEqual(added);
  const last = table.getByRole('columnheader', { name: 'Last item' });
  await last.getByRole('button').click();
  await expect.poll(() => last.getAttribute('aria-sort')).toBe('descending');
  await last.getByRole('button').click();
  await expect.poll(() => last.getAttribute('aria-sort')).toBe('ascending');
  await page.context().close();
});

test('robots.txt is ignored by an admin with a reason, and by nobody else', async () => {
  const writer = await lab.open('/sources/herald?tab=settings', {
    role: 'write',
    width: 360,
    scheme: 'dark',
  });
  await writer.getByRole('heading', { name: 'robots.txt' }).waitFor();
  await expect.poll(() => writer.getByRole('button', { name: /Disallow/ }).count()).toBe(0);
  await expect.poll(() => writer.getByLabel(/Proxies/).getAttribute('readonly')).not.toBeNull();
  await expect.poll(() => findBarriers(writer)).toEqual([]);
  await expect.poll(() => overflowOf(writer)).toBe(0);
  const page = await lab.open('/sources/herald?tab=settings');
  await page.getByRole('button', { name: 'Ignore Disallow lines' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(/Why/).fill('agreed by letter');
  await dialog.getByRole('button', { name: 'Ignore Disallow lines' }).click();
  await page.getByText('Disallow lines do not hold for it now.').waitFor();
  expect(await rows(`SELECT detail FROM audit WHERE action = 'respect_robots'`)).toEqual([
    { detail: { on: false, reason: 'agreed by letter' } },
  ]);
  await page.getByRole('button', { name: 'Follow robots.txt again' }).waitFor();
  await page.context().close();
  await writer.context().close();
});

test('who may only read sees no button that changes anything', async () => {
  const buttons = /add|disable|enable|delete|save|poll|look|follow|ignore|test$/i;
  const page = await lab.open('/sources', { role: 'read', width: 360, scheme: 'dark' });
  await page.getByRole('link', { name: 'Herald' }).waitFor();
  await expect.poll(() => findBarriers(page)).toEqual([]);
  await expect.poll(() => overflowOf(page)).toBe(0);
  // What is waited for is the last thing to come.
  const places: [path: string, text: string][] = [
    ['', 'paper-0.example'],
    ['/herald', 'not polled yet'],
    ['/herald?tab=frontier', 'No URL of it is known yet'],
    ['/herald?tab=documents', 'No documents yet'],
    ['/herald?tab=selectors', 'Nothing to tell yet'],
    ['/herald?tab=settings', 'An admin may decide otherwise'],
    ['/add', 'You may look, but not add sources'],
  ];
  for (const [path, text] of places) {
    await page.goto(`${lab.api.address}/sources${path}`);
    await page.getByText(text).first().waitFor();
    await expect.poll(() => page.getByRole('button', { name: buttons }).count()).toBe(0);
    await expect.poll(() => page.getByRole('checkbox').count()).toBe(0);
  }
  await page.context().close();
});

test('a source is deleted, and what becomes of its documents is said', async () => {
  const page = await lab.open('/sources/mountain_echo?tab=settings');
  // What was typed is lost with it, and nobody is asked about that.
  await page.getByLabel('Priority').fill('2');
  await page.getByRole('button', { name: 'Delete' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete Mountain Echo?' });
  await dialog.getByText('What becomes of the documents?').waitFor();
  await dialog.getByLabel('They are deleted').check();
  await expect.poll(() => findBarriers(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Delete Mountain Echo and documents' }).click();
  await page.getByText('Mountain Echo is deleted; its documents are gone too.').waitFor();
  await page.waitForURL(/\/sources$/);
  await expect.poll(() => rows(`SELECT FROM sources WHERE slug = 'mountain_echo'`)).toEqual([]);
  // Who follows an old link is told so.
  await page.goto(`${lab.api.address}/sources/mountain_echo`);
  await page.getByText('there is no source "mountain_echo"').waitFor();
  await page.context().close();
});

test('pages complain of nothing', () => {
  expect(lab.complaints).toEqual([]);
});
