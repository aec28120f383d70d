import { afterAll, beforeAll, expect, test } from 'vitest';
import { bunch, type MadeJobs, makeJobs } from './jobs-data.ts';
import { type DashboardLab, findBarriers, overflowOf, startDashboardLab } from './lab.ts';

let lab: DashboardLab;
let jobs: MadeJobs;
const rows = async (sql: string, values: unknown[] = []) =>
  (await lab.api.database.pool.query(sql, values)).rows;
const statusOf = async (id: number): Promise<string> =>
  (await rows('SELECT status FROM jobs WHERE id = $1', [id]))[0].status;

beforeAll(async () => {
  lab = await startDashboardLab();
});
afterAll(() => lab?.close());

test('without jobs it is said what they are, and the missing ones are made', async () => {
  const site = { url: 'https://spider.example/', name: 'spider', ingestionMode: 'spider' };
  await lab.api.ask('POST', '/api/v1/sources', site);
  const page = await lab.open('/');
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('j');
  await page.getByRole('heading', { name: 'There are no jobs yet' }).waitFor();
  await page.getByText('Feeds and sitemaps are polled without any job.').waitFor();
  await page.getByRole('button', { name: 'Make the missing jobs' }).last().click();
  await page.getByRole('dialog').getByRole('button', { name: 'Make the missing jobs' }).click();
  await page.getByText('1 job made, 0 resumed, 0 as they were.').waitFor();
  await page.getByRole('link', { name: 'crawl spider' }).waitFor();
  expect(await rows('SELECT kind, status, interval_seconds AS s FROM jobs')).toEqual([
    { kind: 'crawl', status: 'scheduled', s: 21_600 },
  ]);
  await lab.api.database.pool.query('DELETE FROM jobs');
  jobs = await makeJobs(lab);
  await page.context().close();
});

test('the list tells how jobs stand and offers only what is legal', async () => {
  const page = await lab.open('/jobs');
  const table = page.getByRole('table', { name: 'Jobs' });
  const row = (name: string) => table.getByRole('row').filter({ hasText: name });
  await row('crawl herald').getByText('every 6 h, now every 24 h: nothing new 2 times').waitFor();
  await expect
    .poll(() => row('crawl herald').textContent())
    .toMatch(/scheduled.*in (4 h 59 min|5 h).*3 min.*23/);
  const marks = row('crawl herald').getByRole('list', { name: 'Last runs, the newest last' });
  await expect.poll(() => marks.getByRole('listitem').count()).toBe(20);
  await expect
    .poll(() => marks.getByRole('listitem').last().getAttribute('title'))
    .toMatch(/^run 23: completed, 23 items, took 3 min, started 1 h ago/);
  await expect
    .poll(() => marks.getByRole('listitem').first().textContent())
    .toContain('run 4: completed, 4 items');
  await row('refresh coast').getByText('gave up after 3 retries').waitFor();
  const buttonsOf = async (name: string): Promise<string[]> =>
    (await row(name).getByRole('button').allTextContents()).map((text) => text.trim());
  await expect.poll(() => buttonsOf('crawl herald')).toEqual(['Run now', 'Pause', 'Cancel']);
  await expect.poll(() => buttonsOf('refresh coast')).toEqual(['Retry', 'Run now']);
  await expect.poll(() => buttonsOf('discover herald')).toEqual(['Cancel']);
  await expect.poll(() => buttonsOf('crawl coast')).toEqual(['Resume', 'Run now', 'Cancel']);
  await expect.poll(() => buttonsOf('prune')).toEqual(['Run now']);
  await expect.poll(() => findBarriers(page)).toEqual([]);
  await expect.poll(() => overflowOf(page)).toBe(0);
  await row('crawl coast').getByRole('button', { name: 'Resume' }).click();
  await page.getByText(`Job ${jobs.paused} goes on.`).waitFor();
  await row('crawl coast').getByText('scheduled').waitFor();
  await expect.poll(() => statusOf(jobs.paused)).toBe('scheduled');
  // What another does is seen without a reload.
  await lab.api.ask('POST', `/api/v1/jobs/${jobs.paused}/pause`, null);
  await row('crawl coast').getByText('by an operator').waitFor();
  await page.context().close();
});

test('filters and the order are in the address, and keys lead on', async () => {
  const page = await lab.open('/jobs?status=failed');
  const table = page.getByRole('table', { name: 'Jobs' });
  await table.getByRole('link', { name: 'refresh coast' }).waitFor();
  await expect.poll(() => table.getByRole('row').count()).toBe(2);
  await expect
    .poll(() => page.getByLabel('Status').locator('option:checked').textContent())
    .toBe('failed (1)');
  for (const key of ['j', 'r']) await page.keyboard.press(key);
  await page.getByText(`Job ${jobs.failed} runs again.`).waitFor();
  await page.getByRole('heading', { name: 'No job matches' }).waitFor();
  expect(await rows('SELECT status, retries FROM jobs WHERE id = $1', [jobs.failed])).toEqual([
    { status: 'pending', retries: 0 },
  ]);
  await lab.api.database.pool.query(
    `UPDATE jobs SET status = 'failed', retries = 3, next_run_at = NULL WHERE id = $1`,
    [jobs.failed],
  );
  await page.getByRole('link', { name: 'Show all jobs' }).first().click();
  await page.getByLabel('Source').fill('herald');
  await page.getByLabel('Source').press('Enter');
  await expect.poll(() => table.getByRole('row').count()).toBe(3);
  await page.getByLabel('Kind').selectOption('crawl');
  await expect.poll(() => table.getByRole('row').count()).toBe(2);
  expect(new URL(page.url()).search).toBe('?source=herald&kind=crawl');
  await page.goto(`${lab.api.address}/jobs`);
  await page.getByRole('button', { name: 'Next run' }).click();
  await page.waitForURL('**/jobs?sort=next_run');
  await table.getByRole('link', { name: 'crawl herald' }).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: /^Job \d+: / }).waitFor();
  await page.context().close();
});

test('many are acted on at once, each only if it may', async () => {
  const page = await lab.open('/jobs', { role: 'write' });
  const table = page.getByRole('table', { name: 'Jobs' });
  await table.getByRole('link', { name: 'crawl herald' }).waitFor();
  const pick = (name: string) =>
    table.getByRole('row').filter({ hasText: name }).getByRole('checkbox').check();
  for (const name of ['crawl herald', 'crawl coast']) await pick(name);
  const bar = page.getByRole('group', { name: 'With what is selected' });
  await bar.getByText('2 jobs selected').waitFor();
  await expect.poll(() => bar.getByRole('button', { name: 'Retry' }).count()).toBe(0);
  await bar.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('Pause: 1 of 2 jobs left alone, as they stand.').waitFor();
  await page.getByText(`Job ${jobs.recurring} rests until it is resumed.`).waitFor();
  await expect.poll(() => statusOf(jobs.recurring)).toBe('paused');
  await page.getByRole('checkbox', { name: 'Select all rows of this page' }).check();
  await bar.getByRole('button', { name: 'Select all 5 matching' }).click();
  await bar.getByRole('button', { name: 'Resume' }).click();
  const dialog = page.getByRole('dialog', { name: 'Resume: 2 jobs?' });
  await dialog.getByRole('button', { name: 'Resume: 2 jobs' }).click();
  await page.getByText('2 jobs go on.').waitFor();
  expect([await statusOf(jobs.recurring), await statusOf(jobs.paused)]).toEqual(['scheduled', 'scheduled']);
  await page.context().close();
});

test('a job is made; what is refused is said at its field', async () => {
  const page = await lab.open('/jobs/new', { width: 360, scheme: 'dark' });
  const make = page.getByRole('button', { name: 'Make the job' });
  const source = page.getByLabel('Source');
  await source.fill('nobody');
  await make.click();
  await page.getByRole('alert').getByText('there is no source "nobody".').waitFor();
  await expect.poll(() => source.getAttribute('aria-invalid')).toBe('true');
  await expect.poll(() => findBarriers(page)).toEqual([]);
  await expect.poll(() => overflowOf(page)).toBe(0);
  await source.fill('herald');
  const url = page.getByLabel('Begin at (optional)');
  await url.fill('https://elsewhere.example/');
  await make.click();
  await page.getByRole('alert').getByText('is no address of herald.example').waitFor();
  await expect
    .poll(() => url.evaluate((element) => element === element.ownerDocument.activeElement))
    .toBe(true);
  await url.fill('https://herald.example/news');
  await page.getByLabel('Every').fill('400');
  await page.getByLabel('Unit of the interval').selectOption('days');
  await make.click();
  await page.getByRole('alert').getByText('400 days is more than a year').waitFor();
  await page.getByLabel('Every').fill('12');
  await page.getByLabel('Unit of the interval').selectOption('hours');
  await page.getByLabel('Depth (optional)').fill('9');
  await page.getByLabel('Pages of a run at most (optional)').fill('250');
  await make.click();
  await page.getByRole('heading', { level: 1, name: 'crawl herald' }).waitFor();
  const said = page.getByText('maxDepth 9 is deep');
  await said.waitFor();
  await page.getByText('every 12 h').waitFor();
  const id = Number(new URL(page.url()).pathname.split('/').at(-1));
  expect(
    await rows(
      'SELECT kind, url, interval_seconds AS s, max_pages AS p, max_depth AS d FROM jobs WHERE id = $1',
      [id],
    ),
  ).toEqual([{ kind: 'crawl', url: 'https://herald.example/news', s: 43_200, p: 250, d: 9 }]);

  await page.getByRole('link', { name: 'Change' }).click();
  // On a narrow page it lies over the buttons until it is read.
  await page.getByRole('button', { name: 'Dismiss' }).click();
  await page.getByText('Nothing is changed.').waitFor();
  await page.getByLabel('Every').fill('2');
  await page.getByLabel('Unit of the interval').selectOption('days');
  await page.getByLabel('Depth (optional)').fill('');
  // What is typed is not lost without a question, and what is saved is not lost.
  const question = page.getByRole('dialog', { name: 'Leave without saving?' });
  await page.getByRole('link', { name: 'Back to the job' }).click();
  await question.getByRole('button', { name: 'Cancel' }).click();
  await question.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText(`Job ${id} is changed.`).waitFor();
  await page.getByRole('button', { name: 'Dismiss' }).click();
  expect(await rows('SELECT interval_seconds AS s, max_depth AS d FROM jobs WHERE id = $1', [id])).toEqual([
    { s: 172_800, d: null },
  ]);
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Delete the job' }).click();
  await page.waitForURL('**/jobs');
  await expect.poll(() => rows('SELECT FROM jobs WHERE id = $1', [id])).toEqual([]);
  await page.context().close();
});

test('an import brings its list, which is looked at when it is made', async () => {
  const page = await lab.open('/jobs/new', { role: 'write' });
  await page.getByLabel('Kind').selectOption('import');
  await page.getByLabel('List of sources').fill('this is no address');
  await page.getByLabel('once, at once').check();
  await page.getByRole('button', { name: 'Make the job' }).click();
  await page.getByRole('alert').getByText('nothing in the list can be used').waitFor();
  await page.getByLabel('List of sources').fill('https://one.example/\nhttps://two.example/');
  await page.getByRole('button', { name: 'Make the job' }).click();
  await page.getByText('due now, waits for a scheduler').waitFor();
  expect(
    await rows(
      `SELECT status, interval_seconds AS s, metadata->>'text' AS text FROM jobs WHERE kind = 'import'`,
    ),
  ).toEqual([{ status: 'pending', s: null, text: 'https://one.example/\nhttps://two.example/' }]);
  await page.getByRole('button', { name: 'Cancel' }).click();
  const dialog = page.getByRole('dialog', { name: /^Cancel job \d+ \(import\)\?$/ });
  await dialog.getByLabel('Why? It is kept with the job. (optional)').fill('not these');
  await dialog.getByRole('button', { name: 'Cancel the job' }).click();
  await page.getByText('cancelled', { exact: true }).first().waitFor();
  // Nothing can be done with it any more but to forget it.
  await expect
    .poll(() => page.locator('main header').getByRole('button').allTextContents())
    .toEqual([' Delete ']);
  await page.getByRole('link', { name: 'Events' }).click();
  const events = page.getByRole('table', { name: 'Events' });
  await events.getByText('not these').waitFor();
  await expect
    .poll(() => events.getByRole('row').nth(1).textContent())
    .toMatch(/cancel.*pending →.*cancelled.*test write/);
  await page.context().close();
});

test("a job's runs are a table, and one that failed says why", async () => {
  const page = await lab.open(`/jobs/${jobs.failed}`, { width: 360, scheme: 'dark' });
  const runs = page.getByRole('table', { name: 'Runs' });
  await runs.getByText('the database went away').waitFor();
  await expect.poll(() => runs.getByRole('row').count()).toBe(5);
  await expect.poll(() => findBarriers(page)).toEqual([]);
  await expect.poll(() => overflowOf(page)).toBe(0);
  await runs.getByRole('link', { name: 'run 4' }).click();
  await page.getByRole('heading', { name: 'Why it failed' }).waitFor();
  await page.getByText('Stack, for those who mend the program').click();
  await page.getByText('at settle (settle.ts:1:1)').waitFor();
  await page.getByText('response 40').waitFor();
  await expect
    .poll(() => page.getByRole('heading', { level: 1 }).textContent())
    .toBe(`Run 4 of job ${jobs.failed}`);
  await expect.poll(() => overflowOf(page)).toBe(0);
  await page.context().close();
});

test('runs that lie together are spread as the preview says', async () => {
  await bunch(lab.api.database.pool, 40);
  const page = await lab.open('/jobs?tab=slots', { role: 'write' });
  await page.getByText('bunched').first().waitFor();
  await page.getByRole('img', { name: /^Chart\. \d+ runs in 24 hours/ }).waitFor();
  await page.getByRole('button', { name: 'Show as table' }).click();
  const slots = page.getByRole('table', { name: 'Runs by quarter of an hour' });
  await expect.poll(() => slots.getByRole('row').count()).toBe(97);
  await slots.getByRole('cell', { name: '40', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Preview' }).click();
  const moves = page.getByRole('table', { name: 'Moves' });
  await moves.waitFor();
  const text = (await page.getByText(/would be moved\. Spread evenly/).textContent())!;
  const count = Number(/^\s*(\d+) jobs/.exec(text)![1]);
  await expect.poll(() => moves.getByRole('row').count()).toBe(count + 1);
  await expect.poll(() => findBarriers(page)).toEqual([]);
  // Somebody else changes a job that would be moved: nothing is done that was not shown.
  const [first] = await rows('SELECT max(id) AS id FROM jobs');
  await lab.api.ask('DELETE', `/api/v1/jobs/${first.id}`);
  await page.getByRole('button', { name: `Move ${count} jobs` }).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: `Move ${count} jobs` })
    .click();
  await page.getByText('Nothing was moved; this is what would be moved now.').waitFor();
  await expect.poll(() => rows('SELECT FROM jobs WHERE moved_at IS NOT NULL')).toEqual([]);
  const wanted = (await lab.api.ask('POST', '/api/v1/scheduler/rebalance/preview')).body.moves
    .length as number;
  await page.getByRole('button', { name: `Move ${wanted} jobs` }).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: `Move ${wanted} jobs` })
    .click();
  await page.getByText(`${wanted} jobs have another time now.`).waitFor();
  expect(await rows('SELECT count(*)::integer AS n FROM jobs WHERE moved_at IS NOT NULL')).toEqual([
    { n: wanted },
  ]);
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByText('Nothing is to be moved').waitFor();
  await page.setViewportSize({ width: 360, height: 780 });
  await expect.poll(() => overflowOf(page)).toBe(0);
  await page.context().close();
});

test('the overview and the navigation tell of failed jobs, and one is tried again from there', async () => {
  const { pool } = lab.api.database;
  const page = await lab.open('/');
  const nav = page.getByRole('navigation', { name: 'Screens' });
  await nav.getByRole('link', { name: 'Jobs 1 failed' }).waitFor();
  const trouble = page
    .getByRole('listitem')
    .filter({ hasText: `Job ${jobs.failed} (refresh coast) has failed` });
  await trouble.getByText('the database went away').waitFor();
  await trouble.getByRole('button', { name: 'Try it again' }).click();
  await page.getByText(`Job ${jobs.failed} runs again.`).waitFor();
  await expect.poll(() => statusOf(jobs.failed)).toBe('pending');
  await nav.getByRole('link', { name: 'Jobs', exact: true }).waitFor();
  await pool.query(`UPDATE jobs SET status = 'failed', retries = 3, next_run_at = NULL WHERE id = $1`, [
    jobs.failed,
  ]);
  // A reader is led to it.
  const reader = await lab.open('/', { role: 'read' });
  await reader.getByRole('link', { name: `Show it (${jobs.failed})` }).click();
  await reader.getByRole('heading', { level: 1, name: 'refresh coast' }).waitFor();
  await reader.context().close();
  await page.context().close();
});

test('a source shows its jobs and leads to a new one', async () => {
  const page = await lab.open('/sources/coast?tab=jobs');
  const table = page.getByRole('table', { name: 'Jobs of this source' });
  await table.getByRole('link', { name: 'refresh' }).waitFor();
  await expect.poll(() => table.getByRole('row').count()).toBe(3);
  await page.getByRole('link', { name: 'New job' }).click();
  await page.getByRole('heading', { name: 'New job' }).waitFor();
  await expect.poll(() => page.getByLabel('Source').inputValue()).toBe('coast');
  await page.context().close();
});

test('the reading role sees everything and no button that changes anything', async () => {
  const page = await lab.open('/jobs', { role: 'read' });
  const changing = /run now|pause:|resume|cancel|retry|new job|missing|change|delete|preview|move|make/i;
  const count = async (): Promise<number> =>
    (await page.locator('main').getByRole('button', { name: changing }).count()) +
    (await page.locator('main').getByRole('link', { name: changing }).count());
  await page.getByRole('link', { name: 'crawl herald' }).waitFor();
  await expect.poll(() => count()).toBe(0);
  await expect.poll(() => page.getByRole('checkbox').count()).toBe(0);
  await page.keyboard.press('j');
  await page.keyboard.press('r');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'What it does' }).waitFor();
  await expect.poll(() => count()).toBe(0);
  await page.goto(`${lab.api.address}/jobs?tab=slots`);
  await page.getByRole('heading', { name: 'The next 24 hours' }).waitFor();
  await expect.poll(() => count()).toBe(0);
  await page.goto(`${lab.api.address}/jobs/new`);
  await page.getByText('This account only reads.').waitFor();
  await expect.poll(() => count()).toBe(0);
  await page.context().close();
});

test('pages complain of nothing', () => {
  expect(lab.complaints).toEqual([]);
});
