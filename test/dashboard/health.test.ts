import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeTroubles } from './health-data.ts';
import { type DashboardLab, findBarriers, overflowOf, startDashboardLab } from './lab.ts';

let lab: DashboardLab;
beforeAll(async () => {
  lab = await startDashboardLab();
  await makeTroubles(lab.api.database);
});
afterAll(() => lab?.close());

const one = async <T extends object>(sql: string): Promise<T> =>
  (await lab.api.database.pool.query<T>(sql)).rows[0]!;
const patience = { timeout: 20_000 };
const rowOf = (page: Page, table: string, text: string | RegExp) =>
  page.getByRole('table', { name: table }).getByRole('row').filter({ hasText: text });
const openTab = async (page: Page, name: string): Promise<void> =>
  page.getByRole('navigation', { name: 'Parts of health' }).getByRole('link', { name }).click();

test('a process that fell silent and a loop that fails are told in words, and lead to their process', async () => {
  const page = await lab.open('/state');
  // Which of the two depends on the machine too: its disk, its DNS.
  await page.getByText(/^(Needs a look|Something is broken)$/).waitFor();
  await page.getByText(/The fetch process 13 on south has been silent since/).waitFor();
  const loop = page
    .getByRole('listitem')
    .filter({ hasText: 'The renew loop of the fetch process 11 on north failed 3 times in a row' });
  await loop.getByText('It tries again by itself; its log says more.').waitFor();
  await page.getByText('1 silent').waitFor();
  await loop.getByRole('link', { name: 'Show the processes' }).click();
  const dead = rowOf(page, 'Processes', 'fetch 13 on south');
  await dead.getByText('No sign of it for 5 min').waitFor();
  await dead.getByText('1 expired').waitFor();
  await rowOf(page, 'Processes', 'fetch 11 on north')
    .getByText('The renew loop failed 3 times in a row: deadlock detected')
    .waitFor();
  await page
    .locator('p')
    .getByText(/4 leases were recovered in the last 14 days: 0 today/)
    .waitFor();
  await page.getByText('1 lease has expired').waitFor();

  // By keys alone: the worst is first, the one with the failing loop second.
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  const loops = page.getByRole('dialog', { name: 'Loops of fetch 11 on north' });
  await loops.getByRole('row').filter({ hasText: 'renew' }).getByText('fails').waitFor();
  expect(new URL(page.url()).searchParams.get('process')).toBe('north-11-aaaa');
  await expect.poll(() => findBarriers(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await loops.waitFor({ state: 'detached' });

  // And as it happens: the scheduler falls silent, and comes back.
  const { pool } = lab.api.database;
  await pool.query(`UPDATE workers SET heartbeat_at = now() - interval '2 minutes' WHERE pid = 12`);
  await rowOf(page, 'Processes', 'schedule 12 on north').getByText('silent').waitFor();
  await pool.query(`UPDATE workers SET heartbeat_at = now() + interval '1 day' WHERE pid = 12`);
  await rowOf(page, 'Processes', 'schedule 12 on north').getByText('alive').waitFor();
  await page.close();
});

test('dead letters are shown with their reason a page at a time, and tried again', async () => {
  const page = await lab.open('/state?tab=sinks', { role: 'write' });
  await rowOf(page, 'Sinks', 'webhook').getByText('connect ECONNREFUSED 192.0.2.1:443').waitFor();
  await rowOf(page, 'Sinks', 'webhook').getByText('fails').waitFor();
  await page.getByRole('link', { name: 'archive' }).click();
  await page.getByRole('heading', { name: 'Sink archive' }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/state/sinks/archive');
  const table = page.getByRole('table', { name: 'Dead letters' });
  await table
    .getByText(/the receiver answered 422/)
    .first()
    .waitFor();
  await expect.poll(() => table.getByRole('row').count()).toBe(26);
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('Page 2').waitFor();
  await expect.poll(() => table.getByRole('row').count(), patience).toBe(6);
  await page.getByRole('button', { name: 'Previous' }).click();
  await page.getByText('Page 1').waitFor();

  await page.keyboard.press('r');
  await page.getByRole('button', { name: 'Try 30 dead letters again' }).click();
  await page.getByText('30 deliveries are on the way to archive again.').waitFor();
  await page.getByText('It has refused nothing for good.').waitFor();
  await page.getByText('30 documents, the eldest came').waitFor();
  expect(
    await one(`SELECT (SELECT count(*)::integer FROM dead_letters) AS letters,
                      (SELECT count(*)::integer FROM outbox WHERE sink = 'archive') AS waiting`),
  ).toEqual({ letters: 0, waiting: 30 });
  await page.close();
});

test('a sink is paused, resumed and given its documents again; the audit tells it without a reload', async () => {
  const audit = await lab.open('/state?tab=audit');
  await audit.getByText('Live', { exact: true }).waitFor();
  const page = await lab.open('/state?tab=sinks', { role: 'write' });
  const sink = () => one<{ enabled: boolean }>(`SELECT enabled FROM sinks WHERE name = 'webhook'`);
  const row = rowOf(page, 'Sinks', 'webhook');
  await row.getByRole('button', { name: 'Pause webhook' }).click();
  await page.getByRole('button', { name: 'Pause the sink' }).click();
  await row.getByText('paused').waitFor();
  await expect.poll(() => sink()).toEqual({ enabled: false });
  await rowOf(audit, 'What operators did', 'sink pause').getByText('token:test write').waitFor();
  await row.getByRole('button', { name: 'Resume webhook' }).click();
  await row.getByText('fails').waitFor();
  await expect.poll(() => sink()).toEqual({ enabled: true });
  await rowOf(audit, 'What operators did', 'sink resume').waitFor();

  await row.getByRole('button', { name: 'Replay to webhook' }).click();
  await page.getByLabel('Only since').fill('2026-11-01');
  await page.getByRole('button', { name: 'Replay these' }).click();
  await page.getByText(/A replay to webhook is under way, asked for/).waitFor();
  // The reader's midnight, in Vienna.
  expect(await one(`SELECT sink, since FROM sink_replays`)).toEqual({
    sink: 'webhook',
    since: new Date('2026-10-31T23:00:00Z'),
  });
  await rowOf(audit, 'What operators did', 'sink replay').getByText('since: 2026-10-31T23:00').waitFor();
  // Only an admin may forget a sink.
  await page.goto(`${lab.api.address}/state/sinks/webhook`);
  await page.getByRole('button', { name: 'Pause webhook' }).waitFor();
  await expect.poll(() => page.getByRole('button', { name: 'Forget' }).count()).toBe(0);
  await page.close();
  await audit.close();
});

test('a sink is forgotten by an admin, and an address of none says so', async () => {
  const page = await lab.open('/state/sinks/archive');
  await page.getByRole('button', { name: 'Forget' }).click();
  await page.getByRole('button', { name: 'Forget the sink' }).click();
  await page.getByText('archive is forgotten.').waitFor();
  await page.getByRole('table', { name: 'Sinks' }).waitFor();
  await expect
    .poll(() => one(`SELECT count(*)::integer AS n FROM sinks WHERE name = 'archive'`))
    .toEqual({ n: 0 });
  await page.goto(`${lab.api.address}/state/sinks/archive`);
  await page.getByRole('heading', { name: 'There is no sink archive' }).waitFor();
  await page.close();
});

test('the reading role sees everything and no button that changes anything', async () => {
  const page = await lab.open('/state', { role: 'read' });
  await page.getByRole('heading', { name: 'Diagnosis' }).waitFor();
  const changing = page.getByRole('button', {
    name: /^(try dead|try \d|pause|resume|replay|reset|forget)/i,
  });
  for (const [tab, table] of [
    ['Sinks', 'Sinks'],
    ['Circuits', 'Open circuits'],
  ] as const) {
    await openTab(page, tab);
    await page.getByRole('table', { name: table }).getByRole('row').nth(1).waitFor();
    expect(await changing.count(), tab).toBe(0);
  }
  await page.goto(`${lab.api.address}/state/sinks/webhook`);
  await page.getByRole('heading', { name: 'In numbers' }).waitFor();
  await expect.poll(() => changing.count()).toBe(0);
  // The key does nothing either.
  await page.keyboard.press('r');
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
  await page.close();
});

test('an open circuit tells why and until when, and is reset with a reason', async () => {
  const page = await lab.open('/state?tab=circuits', { role: 'write' });
  const row = rowOf(page, 'Open circuits', 'grumpy.example');
  await row.getByText('rate limited').waitFor();
  await row.getByText('1 h ago').waitFor();
  await row.getByText(/in (9|10) min/).waitFor();
  await row.getByRole('button', { name: 'Reset grumpy.example' }).click();
  await page.getByLabel('Why? It is kept with the domain.').fill('They raised our limit.');
  await page.getByRole('button', { name: 'Reset the domain' }).click();
  await page.getByRole('heading', { name: 'Every circuit is closed' }).waitFor();
  expect(await one(`SELECT count(*)::integer AS n FROM domain_slots WHERE circuit_good IS NOT NULL`)).toEqual(
    {
      n: 0,
    },
  );
  expect(
    await one(
      `SELECT reason, actor FROM domain_events WHERE from_status IS NOT NULL AND reason LIKE 'They%'`,
    ),
  ).toEqual({
    reason: 'They raised our limit.',
    actor: 'token:test write',
  });
  await page.close();
});

test('a part that fails does so alone, and says what is wrong', async () => {
  const { pool } = lab.api.database;
  await pool.query('ALTER TABLE source_days RENAME TO source_days_away');
  const page = await lab.open('/state?tab=processes');
  const leases = page.getByRole('region', { name: 'Leases' });
  await leases.getByRole('alert').getByText('Code:').waitFor();
  await rowOf(page, 'Processes', 'fetch 11 on north').waitFor();
  await expect.poll(() => page.getByRole('alert').filter({ hasText: 'Code:' }).count()).toBe(1);
  await pool.query('ALTER TABLE source_days_away RENAME TO source_days');
  await leases.getByRole('button', { name: 'Try again' }).click();
  await leases.getByText('holds 1 domain').waitFor();
  await expect.poll(() => leases.getByRole('alert').count()).toBe(0);
  await page.close();
});

test('every part is open to everybody, wide and light or narrow and dark', async () => {
  const { pool } = lab.api.database;
  await pool.query(
    `UPDATE domain_slots SET circuit_good = 0, circuit_opens = ARRAY[now()], circuit_reasons = ARRAY['refused']`,
  );
  // Looking at a page with axe takes a while: each part is looked at once, in one of the two ways.
  const parts = [
    ['/state', 'Diagnosis', 'light'],
    ['/state?tab=processes', 'Leases', 'dark'],
    ['/state?tab=circuits', 'Open circuits', 'light'],
    ['/state?tab=sinks', 'Sinks', 'dark'],
    ['/state?tab=database', 'Largest tables', 'dark'],
    ['/state?tab=audit', 'What operators did', 'light'],
    ['/state/sinks/webhook', 'Dead letters', 'light'],
  ] as const;
  for (const [width, scheme] of [
    [1280, 'light'],
    [360, 'dark'],
  ] as const) {
    const page = await lab.open('/', { width, scheme });
    for (const [path, heading, looked] of parts) {
      await page.goto(`${lab.api.address}${path}`);
      await page.getByRole('heading', { name: heading, level: 2 }).waitFor();
      await expect
        .poll(() => page.locator('main').getByText('Loading', { exact: true }).count(), patience)
        .toBe(0);
      await expect.poll(() => overflowOf(page), { message: `${path} at ${width}` }).toBe(0);
      if (looked === scheme) expect(await findBarriers(page), `${path} at ${width}`).toEqual([]);
    }
    await page.close();
  }
});

test('pages complain of nothing', () => {
  expect(lab.complaints).toEqual([]);
});
