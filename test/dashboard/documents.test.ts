import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { idOf, storeDocuments } from '../sinks/store.ts';
import { at, feed, fillDocuments, hostileTitle, storeMany } from './documents-data.ts';
import { type DashboardLab, findBarriers, overflowOf, startDashboardLab } from './lab.ts';

let lab: DashboardLab;
let channelId: number;
beforeAll(async () => {
  lab = await startDashboardLab();
  await storeMany(lab.api, 30);
  ({ channelId } = await fillDocuments(lab.api));
}, 60_000);
afterAll(() => lab?.close());

const titlesOf = (page: Page): Promise<string[]> =>
  page.getByRole('table', { name: 'Documents' }).locator('a.title').allInnerTexts();
const open = (url: string, tab = ''): string => `/documents/${idOf(url)}${tab === '' ? '' : `?tab=${tab}`}`;

test('a search shows the best first with its passages, and is in the address', async () => {
  const page = await lab.open('/documents');
  const box = page.getByLabel('Search titles and texts');
  // After a pause, without Enter.
  await box.fill('bridge');
  await page.getByText('1 match').waitFor();
  await expect.poll(() => titlesOf(page)).toEqual(['Plans for a bridge']);
  await expect.poll(() => page.locator('mark').allInnerTexts()).toContain('bridge');
  await box.fill('"crossed the strait" -herald');
  await box.press('Enter');
  await page.getByText('3 matches').waitFor();
  expect(new URL(page.url()).searchParams.get('q')).toBe('"crossed the strait" -herald');
  await expect
    .poll(async () => (await titlesOf(page)).sort())
    .toEqual(['A ferry returns', 'Ferry back in service', 'The ferry sails again'].sort());
  // A word in the title counts for more than one in the text.
  await box.fill('ferry');
  await box.press('Enter');
  await page.getByText('5 matches').waitFor();
  await expect.poll(async () => (await titlesOf(page)).at(-1)).toBe('Plans for a bridge');
  await box.fill('nothingofthekind');
  await box.press('Enter');
  await page.getByRole('heading', { name: 'Nothing found' }).waitFor();
  await page.getByRole('button', { name: 'Show all documents' }).click();
  await page.getByRole('table', { name: 'Documents' }).waitFor();
  await expect.poll(() => box.inputValue()).toBe('');
  await page.context().close();
});

test('a list is narrowed by source, domain, language and date', async () => {
  const page = await lab.open('/documents');
  await page.getByRole('button', { name: 'Filters' }).click();
  await page.getByLabel('Language').selectOption('de');
  await page.getByText('Neue Fähren für die Häfen').waitFor();
  await expect.poll(() => titlesOf(page)).toEqual(['Neue Fähren für die Häfen']);
  await page.getByLabel('Language').selectOption('');
  // What is typed stays while sources are offered for it.
  const source = page.getByLabel('Source');
  await source.pressSequentially('the_h');
  await expect.poll(() => page.locator('#documents-sources option').count()).toBe(1);
  await source.pressSequentially('erald');
  await source.press('Enter');
  await page.getByLabel('Published from').fill('2026-10-01');
  await page.getByLabel('Published to').fill('2026-10-01');
  await page.getByLabel('Published to').press('Tab');
  await expect.poll(() => titlesOf(page)).toEqual(['The ferry sails again']);
  await page.getByLabel('Domain').fill('bote.example');
  await page.getByLabel('Domain').press('Tab');
  await page.getByRole('heading', { name: 'Nothing found' }).waitFor();
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByText('Tides, corrected').waitFor();
  await page.goto(`${lab.api.address}/documents?source=nobody`);
  await page.getByText('source_unknown').waitFor();
  await page.context().close();
});

test('filters that change in one breath are all in the address', async () => {
  const page = await lab.open('/documents');
  await page.getByRole('button', { name: 'Filters' }).click();
  await page.getByLabel('Domain').waitFor();
  await page.evaluate(`
    for (const [id, value] of [['language', 'en'], ['since', '2026-10-01'], ['until', '2026-10-01']]) {
      const field = document.getElementById('documents-' + id);
      field.value = value;
      field.dispatchEvent(new Event('change', { bubbles: true }));
    }`);
  await expect
    .poll(() => Object.fromEntries(new URL(page.url()).searchParams))
    .toEqual({ language: 'en', since: '2026-10-01', until: '2026-10-01' });
  await page.context().close();
});

test('the list goes on to a second page and back, and new documents come by themselves', async () => {
  const page = await lab.open('/documents');
  await page.getByText('Page 1').waitFor();
  const first = await titlesOf(page);
  expect(first).toHaveLength(25);
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('Page 2').waitFor();
  await expect.poll(async () => (await titlesOf(page)).length).toBe(12);
  expect((await titlesOf(page)).filter((title) => first.includes(title))).toEqual([]);
  await page.getByRole('button', { name: 'Previous' }).click();
  await page.getByText('Page 1').waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  await storeDocuments(lab.api.database.pool, [{ url: 'https://herald.example/late', title: 'Late news' }]);
  // What happens is told over the stream: here, that somebody did something.
  await lab.api.ask('PUT', '/api/v1/switches/spider', { on: true });
  await page.getByRole('link', { name: 'Late news' }).waitFor();
  await page.context().close();
});

test('a title and a text with markup stay text', async () => {
  const page = await lab.open(open(at.hostile));
  await page.getByRole('heading', { name: hostileTitle }).waitFor();
  await page.getByText('<script>window.broken = 3</script> and <img src=x').first().waitFor();
  await page.goto(`${lab.api.address}/documents?q=pamphlet`);
  await page.getByText('1 match').waitFor();
  await expect.poll(() => titlesOf(page)).toEqual([hostileTitle]);
  await expect.poll(() => page.evaluate('window.broken')).toBeUndefined();
  await expect.poll(() => page.locator('main img').count()).toBe(0);
  await page.context().close();
});

test('the page of a document is shown in a frame that may do nothing', async () => {
  const page = await lab.open('/documents');
  // Without a kept page it is made of the text.
  await lab.api.database.pool.query('DELETE FROM raw_pages');
  await page.goto(`${lab.api.address}${open(at.hostile, 'page')}`);
  const frame = page.frameLocator('iframe[title="The article as a page"]');
  await frame.getByText('<script>window.broken = 3</script> and <img src=x').waitFor();
  const paragraph =
    'The ferry crossed the strait again on Tuesday, after a year in which nobody had seen it leave the northern quay.';
  const html = `<html><body onload="top.broken = 5"><script>top.broken = 6</script><article><h2>At the quay</h2>
    ${`<p onclick="top.broken = 7">${paragraph} <a href="javascript:top.broken = 8">here</a> <a href="https://herald.example/map">map</a></p>`.repeat(6)}
    <form action="https://elsewhere.example/"><input name="a"></form><iframe src="https://elsewhere.example/"></iframe>
    <p>${paragraph}<img src="https://elsewhere.example/pixel.gif" alt="A ferry" onerror="top.broken = 9"></p></article></body></html>`;
  await lab.api.database.pool.query(
    `INSERT INTO raw_pages (bucket, domain_key, url_hash, fetched_at, encoding, content_type, body)
     SELECT bucket, domain_key, url_hash, crawled_at, 'identity', 'text/html; charset=utf-8', $2 FROM documents WHERE url = $1`,
    [at.bridge, Buffer.from(html)],
  );
  await page.goto(`${lab.api.address}${open(at.bridge, 'page')}`);
  await frame.getByRole('link', { name: 'map' }).first().waitFor();
  await expect.poll(() => frame.getByRole('link', { name: 'here' }).count()).toBe(0);
  expect(
    await frame.locator('script, iframe, form, input, img, [onclick], [onload], [onerror]').count(),
  ).toBe(0);
  await expect.poll(() => page.evaluate('window.broken')).toBeUndefined();
  await page.context().close();
});

test('two versions are compared', async () => {
  const page = await lab.open(`${open(at.edited, 'versions')}&q=tides`);
  await page.getByText('1 line removed, 1 line added.').waitFor();
  await expect.poll(() => page.locator('ins').allTextContents()).toEqual(['+The second line was wrong too.']);
  await page.getByLabel('From version').selectOption('1');
  await page.getByText('2 lines removed, 2 lines added.').waitFor();
  await expect.poll(() => page.locator('del').first().textContent()).toBe('-Tides');
  await expect.poll(() => page.locator('ins').last().textContent()).toBe('+A correction of the sixth line.');
  expect(page.url()).toContain('from=1');
  await expect.poll(() => findBarriers(page)).toEqual([]);
  await page.context().close();
});

test('copies are told apart, and lead to each other', async () => {
  const page = await lab.open(`${open(at.ferry)}?q=ferry`);
  await page.getByRole('link', { name: 'Copies (2)' }).click();
  const copies = page.getByRole('table', { name: 'Copies' });
  await copies.getByText('this document').waitFor();
  const row = (name: string) => copies.getByRole('row').filter({ hasText: name });
  await row('wire.example').getByText('exact copy').waitFor();
  await row('gazette.example').getByText('nearly the same').waitFor();
  await row('wire.example').getByRole('link').click();
  await page.getByRole('heading', { name: 'Ferry back in service' }).waitFor();
  // The list beside it is the same as before.
  expect(new URL(page.url()).searchParams.get('q')).toBe('ferry');
  await page.context().close();
});

test('a document leads back to its channel, its fetch and its domain', async () => {
  const page = await lab.open(open(at.ferry, 'origin'));
  const told = page.getByRole('table', { name: 'Who told of it' });
  await told.getByText(feed).waitFor();
  const hrefs: (string | null)[] = [];
  for (const name of [`Channel ${channelId}`, 'The Herald'])
    hrefs.push(await told.getByRole('link', { name }).getAttribute('href'));
  for (const name of ['Its life line', 'herald.example'])
    hrefs.push(await page.getByRole('link', { name, exact: true }).getAttribute('href'));
  expect(hrefs).toEqual([
    `/channels/${channelId}`,
    '/sources/the_herald',
    `/frontier/${idOf(at.ferry)}`,
    '/domains/herald.example',
  ]);
  // Each is something the API knows.
  for (const href of hrefs)
    expect((await lab.api.ask('GET', `/api/v1${href}`)).status, String(href)).toBe(200);
  await page.getByRole('link', { name: 'Facts' }).click();
  await page.getByText('from article:published_time').waitFor();
  await page.context().close();
});

test('a verdict is given, shown and taken back', async () => {
  const page = await lab.open(open(at.bridge, 'verdict'), { role: 'write' });
  const stored = async (): Promise<unknown> =>
    (
      await lab.api.database.pool.query(
        'SELECT classification_status AS status, labels FROM documents WHERE url = $1',
        [at.bridge],
      )
    ).rows[0];
  await page.getByText('Nobody has judged version 1 yet.').waitFor();
  await page.getByLabel('Labels, one on each line').fill('no label');
  await page.getByRole('button', { name: 'Save the verdict' }).click();
  await page.getByText('"no label" is no label').waitFor();
  await page.getByLabel('Labels, one on each line').fill('topic: traffic\nsure: 0.9\nalso: ["sea","trade"]');
  await page.getByRole('button', { name: 'Save the verdict' }).click();
  await page.getByText('The verdict is saved.').waitFor();
  await page.getByText('sea, trade').waitFor();
  expect(await stored()).toEqual({
    status: 'classified',
    labels: { topic: 'traffic', sure: 0.9, also: ['sea', 'trade'] },
  });
  await page.getByRole('button', { name: 'Take it back' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Take it back' }).click();
  await page.getByText('Nobody has judged version 1 yet.').waitFor();
  await expect.poll(() => stored()).toEqual({ status: 'pending', labels: {} });
  await page.context().close();
});

test('a document is saved as JSON, and who only reads can change nothing', async () => {
  const page = await lab.open(open(at.ferry, 'json'), { role: 'read' });
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download JSON' }).click(),
  ]);
  expect(JSON.parse(await readFile(await download.path(), 'utf8'))).toMatchObject({
    url: at.ferry,
    source: 'the_herald',
  });
  await page.getByRole('link', { name: 'Verdict' }).click();
  await page.getByText('Nobody has judged').waitFor();
  await expect.poll(() => page.getByRole('button', { name: 'Save the verdict' }).count()).toBe(0);
  await expect.poll(() => page.locator('main textarea').count()).toBe(0);
  await page.context().close();
});

test('the keyboard is enough, on a narrow dark page too', async () => {
  const page = await lab.open('/documents?q=ferry', { width: 360, scheme: 'dark' });
  await page.getByText('5 matches').waitFor();
  await expect.poll(() => findBarriers(page)).toEqual([]);
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  const preview = page.getByRole('article');
  const heading = preview.getByRole('heading', { level: 2 });
  const [first] = await titlesOf(page);
  await expect.poll(async () => (await heading.textContent())?.trim()).toBe(first);
  await expect.poll(() => heading.evaluate((one) => one.ownerDocument.activeElement === one)).toBe(true);
  await expect.poll(() => findBarriers(page)).toEqual([]);
  await expect.poll(() => overflowOf(page)).toBe(0);
  await page.keyboard.press('Escape');
  await preview.waitFor({ state: 'detached' });
  await page.keyboard.press('/');
  await page.keyboard.type('bridge');
  await page.getByText('1 match').waitFor();
  await page.context().close();
});

test('list and preview stand side by side, and have no barriers', async () => {
  const page = await lab.open(`${open(at.ferry)}?q=ferry`);
  const [list, preview] = [page.getByRole('table', { name: 'Documents' }), page.getByRole('article')];
  await list.waitFor();
  await preview.getByText('The ferry crossed the strait').waitFor();
  const [left, right] = [await list.boundingBox(), await preview.boundingBox()];
  expect(left!.x + left!.width).toBeLessThanOrEqual(right!.x);
  await expect.poll(() => findBarriers(page)).toEqual([]);
  await page.goto(`${lab.api.address}/documents/nobody`);
  await page.getByText('document_unknown').waitFor();
  await page.context().close();
});

test('pages complain of nothing', () => {
  expect(lab.complaints).toEqual([]);
});
