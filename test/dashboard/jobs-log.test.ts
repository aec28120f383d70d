import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { appendLog } from '../../src/jobs/index.ts';
import { endRun, putJob } from '../jobs/standing.ts';
import { type CutProxy, startCutProxy } from './cut-proxy.ts';
import { runOf, writeLines } from './jobs-data.ts';
import {
  type DashboardLab,
  findBarriers,
  openContext,
  openPage,
  overflowOf,
  startDashboardLab,
} from './lab.ts';

let lab: DashboardLab;
let proxy: CutProxy;
beforeAll(async () => {
  lab = await startDashboardLab();
  proxy = await startCutProxy(lab.api.address);
});
afterAll(async () => {
  await proxy?.close();
  await lab?.close();
});

/** A job that runs, and its execution. */
async function run(): Promise<{ job: number; execution: string }> {
  const job = await putJob(lab.api.database.pool, 'running');
  return { job, execution: await runOf(lab.api.database.pool, job) };
}
const write = (execution: string, from: number, count: number): Promise<number> =>
  writeLines(lab.api.database.pool, execution, from, count);
/** The numbers of the lines that are shown, in their order. */
const shown = (page: Page): Promise<number[]> =>
  page
    .locator('[data-line]')
    .evaluateAll((lines) => lines.map((line) => Number(line.getAttribute('data-line'))));
const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);
const patience = { timeout: 20_000 };
const fromEnd = (page: Page): Promise<number> =>
  page.getByRole('log').evaluate((box) => Math.round(box.scrollHeight - box.scrollTop - box.clientHeight));

test('a log whose connection is cut again and again loses no line and shows none twice', async () => {
  const { job, execution } = await run();
  await write(execution, 1, 30);
  const opened = await lab.open('/jobs');
  const context = await openContext(opened.context().browser()!, proxy.address, {
    token: lab.api.tokens.read,
  });
  await opened.context().close();
  const page = await openPage(context, `${proxy.address}/jobs/runs/${execution}`, lab.complaints);
  await expect.poll(() => shown(page), patience).toEqual(range(1, 30));
  const state = page.getByRole('region', { name: 'Log' }).getByRole('status');
  await state.getByText('live').waitFor();

  // Lines come from several transactions at once while the way is cut under them.
  const writing = Promise.all([1, 2, 3].map((part) => write(execution, part * 100, 40)));
  proxy.cut();
  await writing;
  await write(execution, 500, 10);
  await expect.poll(() => shown(page), patience).toEqual(range(1, 160));

  // The server is away for a while; what is written meanwhile comes when it is back.
  proxy.setDown(true);
  await state.getByText('connection lost, trying again').waitFor();
  await write(execution, 600, 50);
  proxy.setDown(false);
  await expect.poll(() => shown(page), patience).toEqual(range(1, 210));
  await state.getByText('live').waitFor();

  await endRun(lab.api.database.pool, job);
  await state.getByText('complete', { exact: true }).waitFor();
  await expect.poll(() => shown(page)).toEqual(range(1, 210));
  await context.close();
});

test('markup in a line of a log is text', async () => {
  const { execution } = await run();
  const message = '<script>window.broken = 1</script><img src=x onerror="window.broken = 2"> was the title';
  await appendLog(lab.api.database.pool, BigInt(execution), [
    { category: 'fetch', level: 'info', message, detail: { title: message } },
  ]);
  const page = await lab.open(`/jobs/runs/${execution}`);
  await page.getByRole('log').getByText(message).first().waitFor();
  await expect.poll(() => page.evaluate('window.broken')).toBeUndefined();
  await page.close();
});

test('a log is followed, paused, filtered, searched and saved', async () => {
  const { execution } = await run();
  await write(execution, 1, 60);
  const page = await lab.open(`/jobs/runs/${execution}`);
  await expect.poll(() => shown(page), patience).toEqual(range(1, 60));
  await expect.poll(() => fromEnd(page)).toBe(0);
  await expect.poll(() => findBarriers(page)).toEqual([]);
  await write(execution, 61, 20);
  await expect.poll(() => shown(page), patience).toEqual(range(1, 80));
  await expect.poll(() => fromEnd(page)).toBe(0);

  await page.getByRole('button', { name: 'Pause' }).click();
  await write(execution, 81, 5);
  await page.getByRole('button', { name: 'Go on (5 new)' }).waitFor();
  await expect.poll(() => shown(page)).toEqual(range(1, 80));
  await page.getByRole('button', { name: 'Go on' }).click();
  await expect.poll(() => shown(page), patience).toEqual(range(1, 85));

  // Whoever reads further up is left there.
  await page.getByRole('log').evaluate((box) => box.scrollTo(0, 0));
  await expect.poll(() => page.getByLabel('Follow the end').isChecked()).toBe(false);
  await write(execution, 86, 5);
  await expect.poll(() => shown(page), patience).toEqual(range(1, 90));
  await expect.poll(() => fromEnd(page)).toBeGreaterThan(100);
  await page.getByLabel('Follow the end').check();
  await expect.poll(() => fromEnd(page)).toBe(0);

  await page.getByLabel('Level').selectOption('warn');
  await expect.poll(() => shown(page), patience).toEqual([10, 20, 30, 40, 50, 60, 70, 80, 90]);
  // What comes is filtered too.
  await write(execution, 91, 20);
  await expect.poll(() => shown(page), patience).toEqual([10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110]);
  await page.getByLabel('Search').fill('PAGE 1');
  await expect.poll(() => shown(page), patience).toEqual([10, 100, 110]);
  expect(new URL(page.url()).search).toBe('?level=warn&q=PAGE+1');
  await page.getByLabel('About').selectOption('error');
  await page.getByText('No line is like this.').waitFor();
  const loading = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download NDJSON' }).click();
  const file = await loading;
  expect(file.suggestedFilename()).toBe(`execution-${execution}.ndjson`);
  const lines = (await readFile(await file.path(), 'utf8')).trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).id)).toEqual(range(1, 110));
  await page.context().close();
});

test('a long log keeps a bounded number of lines on the page, and leads back to its beginning', async () => {
  const { job, execution } = await run();
  for (let from = 1; from <= 2400; from += 600) await write(execution, from, 600);
  const page = await lab.open(`/jobs/runs/${execution}`, { width: 360, scheme: 'dark' });
  await expect.poll(() => shown(page), patience).toEqual(range(1901, 2400));
  await expect.poll(() => overflowOf(page)).toBe(0);
  // More than fit come in: the oldest make room, and can be asked for again.
  for (let from = 2401; from <= 4200; from += 600) await write(execution, from, 600);
  await expect.poll(() => shown(page), patience).toEqual(range(2201, 4200));
  const earlier = page.getByRole('button', { name: 'Earlier lines' });
  for (let first = 1701; first > 200; first -= 500) {
    await earlier.click();
    await expect.poll(async () => (await shown(page))[0], patience).toBe(first);
    await expect.poll(async () => (await shown(page)).length).toBe(2000);
  }
  await earlier.click();
  await expect.poll(() => shown(page), patience).toEqual(range(1, 2000));
  await expect.poll(() => earlier.count()).toBe(0);
  // Two thousand lines scroll in their box, and not the page.
  await expect.poll(() => page.evaluate('document.documentElement.scrollHeight')).toBeLessThan(2500);
  await endRun(lab.api.database.pool, job);
  await page.getByLabel('Follow the end').check();
  await expect.poll(() => shown(page), patience).toEqual(range(3701, 4200));
  await page.getByText('complete', { exact: true }).waitFor();
  await page.context().close();
});

test('pages complain of nothing', () => {
  expect(lab.complaints).toEqual([]);
});
