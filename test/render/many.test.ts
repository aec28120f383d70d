import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { residentBytes } from '../../src/render/browser.ts';
import { type Site, type Stage, startSite, startStage } from './site.ts';

// RENDER_PAGES=1000 for the figures of docs/benchmarks.md.
const pages = Number(process.env.RENDER_PAGES ?? 30);
const perBrowser = pages >= 200 ? 100 : 10;
const atOnce = 2;

let site: Site;
let stage: Stage;
let cpuOfOthersMs = 0;

beforeAll(async () => {
  site = await startSite({
    '/app.js': (_request, response) =>
      void response
        .writeHead(200, { 'content-type': 'text/javascript' })
        .end(
          `fetch('/story' + location.search).then((r) => r.json()).then(({ title, text }) => { document.title = title; document.getElementById('app').innerHTML = '<h1>' + title + '</h1>' + text.map((t) => '<p>' + t + '</p>').join(''); })`,
        ),
    '/story': (request, response) => {
      const text = Array.from({ length: 40 }, (_, n) => `Paragraph ${n} of ${request.url} `.repeat(10));
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ title: `Story ${request.url}`, text }));
    },
  });
  cpuOfOthersMs = process.env.RENDER_PAGES === undefined ? 0 : childCpuMs();
  stage = await startStage(site, { pagesPerBrowser: perBrowser });
});
afterAll(async () => {
  await stage?.close();
  await site?.close();
  // Of a browser and its processes, known once they have ended.
  if (process.env.RENDER_PAGES !== undefined)
    process.stdout.write(
      `${JSON.stringify({ browserCpuMsPerPage: (childCpuMs() - cpuOfOthersMs) / pages })}\n`,
    );
});

/** Processor time of children that have ended, with that of theirs: hundredths of a second in /proc. */
function childCpuMs(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)!.split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

type Look = { page: number; browserMb: number; nodeMb: number };

test(
  `${pages} pages, ${atOnce} at once: all are rendered, and memory stays where it was`,
  async () => {
    const looks: Look[] = [];
    const look = async (page: number): Promise<void> => {
      const browser = residentBytes(await stage.renderer.processes()) ?? 0;
      looks.push({
        page,
        browserMb: Math.round(browser / 1e6),
        nodeMb: Math.round(process.memoryUsage().rss / 1e6),
      });
    };
    const cpuBefore = process.cpuUsage();
    const startedAt = performance.now();
    let next = 0;
    const bad: unknown[] = [];
    const work = async (): Promise<void> => {
      for (let n = next++; n < pages; n = next++) {
        const url = `http://page.test/read?${n}`;
        const rendered = await stage.render('<div id="app"></div><script src="/app.js"></script>', url);
        const isGood =
          rendered.outcome === 'rendered' &&
          rendered.body.toString().includes(`Paragraph 39 of /story?${n} `);
        if (!isGood) bad.push(rendered);
        if (n === 5 || n === Math.floor(pages / 2) || n === pages - 3) await look(n);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    expect(bad).toEqual([]);
    expect(stage.renderer.state.launches).toBe(Math.ceil(pages / perBrowser));
    expect(site.requests).toHaveLength(2 * pages);
    const seconds = (performance.now() - startedAt) / 1000;
    const cpu = process.cpuUsage(cpuBefore);
    if (process.env.RENDER_PAGES !== undefined)
      process.stdout.write(
        `${JSON.stringify({
          pages,
          looks,
          secondsPerPage: seconds / pages,
          nodeCpuMsPerPage: (cpu.user + cpu.system) / 1000 / pages,
          launches: stage.renderer.state.launches,
        })}\n`,
      );
    // Twice the first look: what leaks with every page would be far beyond it.
    expect(looks.at(-1)!.browserMb).toBeLessThan(Math.max(600, 2 * looks[0]!.browserMb));
  },
  pages * 5000 + 60_000,
);
