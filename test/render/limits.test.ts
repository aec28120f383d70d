import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { waitUntil } from '../e2e/wait.ts';
import { outOf, type Site, type Stage, startSite, startStage, tries } from './site.ts';

let site: Site;
let stage: Stage;

beforeAll(async () => {
  const big = Buffer.alloc(1_000_000, 'x');
  site = await startSite({
    '/big': (_request, response) => void response.writeHead(200, { 'content-type': 'text/plain' }).end(big),
    // Never answered: whoever asks waits.
    '/silence': () => undefined,
  });
});
afterEach(async () => {
  await stage?.close();
  site.requests.length = 0;
  // Nothing is left behind: no profile, no process.
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith(`outrider-profile-${process.pid}-`))).toEqual(
    [],
  );
});
afterAll(() => site?.close());

const text = (rendered: Awaited<ReturnType<Stage['render']>>): string =>
  rendered.outcome === 'rendered' ? rendered.body.toString('utf8') : JSON.stringify(rendered);

const isGone = (pid: number): boolean => {
  try {
    // A zombie whose parent has not looked yet is gone as well.
    return / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return true;
  }
};

test('the fifty-first request is refused, and the page is kept and named so', async () => {
  stage = await startStage(site);
  const rendered = await stage.render(
    tries(`out.good = 0; out.refused = 0;
      await Promise.all(Array.from({ length: 80 }, (_, n) => fetch('/n' + n).then(() => { out.good += 1; }, () => { out.refused += 1; })));`),
  );
  expect(outOf(rendered)).toEqual({ good: 50, refused: 30 });
  expect(rendered).toMatchObject({ outcome: 'rendered', requests: 50, cut: 'requests' });
  expect(site.requests).toHaveLength(50);
  expect(stage.said).toContainEqual(
    expect.objectContaining({ message: 'a page wanted more than it may have', level: 'info' }),
  );
});

test('beyond ten megabytes nothing comes any more', async () => {
  stage = await startStage(site);
  const rendered = await stage.render(
    tries(
      `out.bytes = 0; for (let n = 0; n < 20; n += 1) try { out.bytes += (await (await fetch('/big?' + n)).text()).length; } catch { break; }`,
    ),
  );
  const { bytes } = outOf(rendered) as { bytes: number };
  expect(bytes).toBeLessThanOrEqual(10_000_000);
  expect(bytes).toBeGreaterThan(5_000_000);
  expect(rendered).toMatchObject({ outcome: 'rendered', cut: 'bytes' });
  expect(site.requests.length).toBeLessThan(12);
});

test('a page that never comes to rest is read when its time is up; endless scripts are named', async () => {
  stage = await startStage(site, { limits: { timeoutMs: 3000 } });
  const restless = await stage.render(
    `<p>here</p><script>for (let n = 0; n < 5; n += 1) fetch('/silence'); setInterval(() => fetch('/n'), 100)</script>`,
  );
  expect(restless).toMatchObject({ outcome: 'rendered', cut: expect.stringMatching(/time|requests/) });
  expect(text(restless)).toContain('<p>here</p>');
  expect(await stage.render('<script>for (;;) {}</script>')).toMatchObject({
    outcome: 'failed',
    kind: 'render_timeout',
  });
  expect(await stage.render('<script>for (;;) alert(1)</script>')).toMatchObject({ kind: 'render_timeout' });
  expect(text(await stage.render('<p>next</p>'))).toContain('next');
});

test('markup without end is too large, not ours to hold', async () => {
  stage = await startStage(site, { limits: { maxBytes: 200_000 } });
  expect(await stage.render(`<script>document.body.append('x'.repeat(1_000_000))</script>`)).toMatchObject({
    outcome: 'failed',
    kind: 'render_too_large',
  });
});

test('a browser killed in mid-page is named, and the next page has a new one', async () => {
  stage = await startStage(site);
  const { pid } = stage.renderer.state;
  const rendering = stage.render(`<script>fetch('/silence')</script>`);
  await waitUntil('the page runs', () => site.requests.length === 1 || 'not yet');
  const processes = await stage.renderer.processes();
  expect(processes.length).toBeGreaterThan(1);
  process.kill(pid!, 'SIGKILL');
  expect(await rendering).toMatchObject({ outcome: 'failed', kind: 'render_crashed' });
  await waitUntil('all its processes end', () => processes.every(isGone) || 'some live');
  expect(text(await stage.render('<p>next</p>'))).toContain('next');
  expect(stage.renderer.state).toMatchObject({ launches: 2 });
  expect(stage.renderer.state.pid).not.toBe(pid);
});

test('a browser that is stopped and does not answer is killed', async () => {
  stage = await startStage(site, { limits: { timeoutMs: 3000 } });
  const { pid } = stage.renderer.state;
  const rendering = stage.render(`<script>fetch('/silence')</script>`);
  await waitUntil('the page runs', () => site.requests.length === 1 || 'not yet');
  process.kill(pid!, 'SIGSTOP');
  expect(await rendering).toMatchObject({ outcome: 'failed' });
  await waitUntil('it is gone', () => isGone(pid!) || 'it lives');
  expect(text(await stage.render('<p>next</p>'))).toContain('next');
});

test('memory has an end: the page is named, the next one runs', async () => {
  stage = await startStage(site, { maxMemoryBytes: 600_000_000 });
  const rendered = await stage.render(
    `<script>const held = []; setInterval(() => { const a = new Uint8Array(50_000_000); a.fill(1); held.push(a); }, 20)</script>`,
  );
  expect(rendered).toMatchObject({ outcome: 'failed', kind: 'render_crashed' });
  expect(text(await stage.render('<p>next</p>'))).toContain('next');
});

test('after its pages a browser is replaced, also while several are open', async () => {
  stage = await startStage(site, { pagesPerBrowser: 3 });
  const first = stage.renderer.state.pid;
  const rendered = await Promise.all(['a', 'b', 'c', 'd'].map((name) => stage.render(`<p>${name}</p>`)));
  expect(rendered.map(({ outcome }) => outcome)).toEqual(['rendered', 'rendered', 'rendered', 'rendered']);
  expect(stage.renderer.state).toMatchObject({ launches: 2, pages: 1 });
  await waitUntil('the first is gone', () => isGone(first!) || 'it lives');
});

test('a stop ends pages under way, which go back', async () => {
  stage = await startStage(site);
  const rendering = stage.render(`<script>fetch('/silence')</script>`);
  await waitUntil('the page runs', () => site.requests.length === 1 || 'not yet');
  await stage.renderer.close();
  expect(await rendering).toMatchObject({ outcome: 'failed', kind: 'aborted' });
});
