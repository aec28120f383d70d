import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DashboardLab, findBarriers, overflowOf, startDashboardLab } from './lab.ts';

let lab: DashboardLab;
const ids = new Map<string, number>();
const rows = async (sql: string, values: unknown[] = []) =>
  (await lab.api.database.pool.query(sql, values)).rows;

beforeAll(async () => {
  lab = await startDashboardLab();
  for (const name of ['herald', 'coast']) {
    await lab.api.ask('POST', '/api/v1/sources', { url: `https://${name}.example/`, name });
    for (const path of ['feed', 'news', 'sport']) {
      const channel = { source: name, url: `https://${name}.example/${path}`, title: `${name} ${path}` };
      ids.set(`${name} ${path}`, (await lab.api.ask('POST', '/api/v1/channels', channel)).body.id);
    }
  }
  await lab.api.database.pool.query(
    `INSERT INTO channel_state (bucket, channel_id, errors_in_row, error_kind, failing_since, slept_at, sleep_reason, polls, not_modified,
            items_seen, items_new, last_success_at, floor_seconds)
     SELECT c.bucket, c.id, f.errors, f.kind, now() - f.since::interval, CASE WHEN f.errors > 5 THEN now() END,
            CASE WHEN f.errors > 5 THEN f.kind END, 50, 30, 400, 25,
            now() - f.since::interval, 0
       FROM (VALUES ($1::integer, 3, 'http_404', '2 hours'), ($2, 9, 'dns', '4 days'), ($3, 0, NULL, '5 minutes')) AS f (id, errors, kind, since)
       JOIN channels c ON c.id = f.id`,
    [ids.get('coast news'), ids.get('coast sport'), ids.get('herald feed')],
  );
  await lab.api.database.pool.query(
    `INSERT INTO crawl_log (at, bucket, status, domain_key, epoch, kind, outcome, url_hash, url, worker, bytes, total_ms)
     SELECT now() - n * interval '10 minutes', c.bucket, CASE WHEN n < 3 THEN 404 WHEN n % 2 = 0 THEN 304 ELSE 200 END, c.domain_key, 1,
            'channel', 'response', c.url_hash, c.url, 'worker-1', n * 100, 5
       FROM channels c, generate_series(1, 30) n WHERE c.id = $1`,
    [ids.get('coast news')],
  );
  await settle();
}, 120_000);
afterAll(() => lab?.close());

/** Nothing is due now, so that a poll that was asked for can be seen. */
const settle = (): Promise<unknown> =>
  lab.api.database.pool.query(`UPDATE url_frontier SET due_at = now() + interval '6 hours'`);
const dueNow = async (): Promise<string[]> =>
  (await rows("SELECT url FROM url_frontier WHERE due_at < now() + interval '1 hour' ORDER BY url")).map(
    (row) => row.url,
  );

test('trouble comes first, and a failing channel is polled again', async () => {
  const page = await lab.open('/channels');
  const table = page.getByRole('table', { name: 'Channels' });
  await table.getByRole('link', { name: 'coast sport' }).waitFor();
  const first = table.getByRole('row').nth(1);
  await expect.poll(() => first.textContent()).toMatch(/coast sport.*asleep.*dns for 4 d, 9 times in a row/);
  await expect
    .poll(() => table.getByRole('row').nth(2).textContent())
    .toMatch(/coast news.*http 404 for 2 h, 3 times.*60 %.*25 \/ 400/);
  await expect.poll(() => findBarriers(page)).toEqual([]);
  await expect.poll(() => overflowOf(page)).toBe(0);
  await page.setViewportSize({ width: 900, height: 800 });
  await expect.poll(() => overflowOf(page)).toBe(0);
  await page.getByRole('button', { name: 'Poll coast news now' }).click();
  await page.getByText('coast news is polled as soon as its domain may be asked.').waitFor();
  await expect.poll(() => dueNow()).toEqual(['https://coast.example/news']);
  await page.context().close();
});

test('filters and the keyboard lead to a channel, and r polls it', async () => {
  await settle();
  const page = await lab.open('/channels?source=herald');
  const table = page.getByRole('table', { name: 'Channels' });
  await table.getByRole('link', { name: 'herald feed' }).waitFor();
  await expect.poll(() => table.getByRole('row').count()).toBe(4);
  for (const key of ['j', 'j', 'r']) await page.keyboard.press(key);
  await page.getByText('1 channel is polled as soon as the domain may be asked.').waitFor();
  await expect.poll(() => dueNow()).toEqual(['https://herald.example/news']);
  await page.getByRole('button', { name: 'Only of herald: show all' }).click();
  await page.getByLabel('State').selectOption('failing');
  await expect.poll(() => table.getByRole('row').count()).toBe(3);
  await page.getByLabel('State').selectOption('pushed');
  await page.getByRole('heading', { name: 'No channel matches' }).waitFor();
  await page.getByLabel('Exact address').fill('https://herald.example/sport');
  await table.getByRole('link', { name: 'herald sport' }).waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'herald sport', level: 1 }).waitFor();
  await page.context().close();
});

test('a channel tells how it goes, its polls page by page, and is changed', async () => {
  const id = ids.get('coast news')!;
  const page = await lab.open(`/channels/${id}`, { width: 360, scheme: 'dark' });
  await page.getByText('3 polls in a row failed (http_404)').waitFor();
  // A publisher that asks for no pause asks for nothing.
  await expect.poll(() => page.getByText('Its publisher asks').count()).toBe(0);
  const polls = page.getByRole('table', { name: 'Polls' });
  await polls.getByText('not modified').first().waitFor();
  await expect.poll(() => polls.getByRole('row').count()).toBe(26);
  await expect.poll(() => findBarriers(page)).toEqual([]);
  await expect.poll(() => overflowOf(page)).toBe(0);
  await page.getByRole('button', { name: 'Next' }).click();
  await expect.poll(() => polls.getByRole('row').count()).toBe(6);
  await page.getByRole('button', { name: 'Change' }).click();
  const dialog = page.getByRole('dialog', { name: 'Change this channel' });
  await dialog.getByLabel('Minutes between polls').fill('45');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('It is polled every 45 minutes now.').waitFor();
  await expect
    .poll(() => rows('SELECT interval_seconds AS s FROM channels WHERE id = $1', [id]))
    .toEqual([{ s: 2700 }]);
  await page.getByRole('button', { name: 'Disable' }).click();
  await page.getByText('It is disabled: nobody polls it until it is enabled.').waitFor();
  await expect.poll(() => page.getByRole('button', { name: 'Poll now' }).isDisabled()).toBe(true);
  await page.getByRole('button', { name: 'Enable' }).click();
  await page.getByText('It is polled again.').waitFor();
  await expect
    .poll(() => rows('SELECT enabled FROM channels WHERE id = $1', [id]))
    .toEqual([{ enabled: true }]);
  await page.context().close();
});

test('all that fail are retried at once, after their number was said', async () => {
  await lab.api.database.pool.query(
    'UPDATE channel_state SET errors_in_row = 4 WHERE channel_id = ANY ($1)',
    [[ids.get('coast news'), ids.get('coast sport')]],
  );
  await settle();
  const page = await lab.open('/channels', { role: 'write' });
  await page.getByRole('button', { name: 'Retry all failing' }).click();
  const dialog = page.getByRole('dialog', { name: 'Retry what fails' });
  await dialog.getByText('2 channels fail. Their errors are forgotten').waitFor();
  await dialog.getByRole('button', { name: 'Retry 2' }).click();
  await page.getByText('2 channels are polled as soon as their domains may be asked.').waitFor();
  await expect.poll(() => rows('SELECT FROM channel_state WHERE errors_in_row > 0')).toEqual([]);
  await expect.poll(() => dueNow()).toEqual(['https://coast.example/news', 'https://coast.example/sport']);
  await page.context().close();
});

test('a channel is deleted, and a reader sees no button that would', async () => {
  const id = ids.get('herald sport')!;
  const reader = await lab.open(`/channels/${id}`, { role: 'read' });
  await reader.getByRole('heading', { name: 'In numbers' }).waitFor();
  const buttons = /poll|reset|change|enable|disable|delete|retry/i;
  await expect.poll(() => reader.getByRole('button', { name: buttons }).count()).toBe(0);
  await reader.goto(`${lab.api.address}/channels`);
  await reader.getByRole('link', { name: 'herald sport' }).waitFor();
  await expect.poll(() => reader.getByRole('button', { name: buttons }).count()).toBe(0);
  await expect.poll(() => reader.getByRole('checkbox').count()).toBe(0);
  const page = await lab.open(`/channels/${id}`);
  await page.getByRole('button', { name: 'Delete' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete this channel?' });
  await dialog.getByText('Documents that it brought stay').waitFor();
  await dialog.getByRole('button', { name: 'Delete the channel' }).click();
  await page.getByRole('heading', { name: 'herald', level: 1, exact: true }).waitFor();
  await expect.poll(() => rows('SELECT FROM channels WHERE id = $1', [id])).toEqual([]);
  await page.context().close();
  await reader.context().close();
});

test('pages complain of nothing', () => {
  expect(lab.complaints).toEqual([]);
});
