// Writes docs/screens/*.png: every screen of the dashboard on a running demo, and the first run on an empty database.
// npm run screens
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launchBrowser } from '../dist/test/dashboard/browser.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const out = join(root, 'docs', 'screens');
const main = join(root, 'dist', 'src', 'cli', 'main.js');
const enoughDocuments = Number(process.env.SCREENS_DOCUMENTS ?? 600);
// Pictures whose names match: SCREENS_ONLY=overview npm run screens
const only = new RegExp(process.env.SCREENS_ONLY ?? '');
// Charts need some minutes to have a shape.
const leastMs = Number(process.env.SCREENS_SECONDS ?? 360) * 1000;
const mostMs = leastMs + 180_000;

/** Starts the program and answers its process and the link that signs a browser in. */
async function start(args) {
  const child = spawn(process.execPath, [main, ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  const link = await new Promise((resolve, reject) => {
    const hear = (text) => {
      said += text;
      const found = /Sign in \(once[^)]*\): (\S+)/.exec(said);
      if (found) resolve(found[1]);
    };
    child.stdout.setEncoding('utf8').on('data', hear);
    child.stderr.setEncoding('utf8').on('data', hear);
    child.once('exit', (code) => reject(new Error(`ended with ${code}: ${said}`)));
  });
  return { child, link, address: new URL(link).origin };
}

async function stop({ child }) {
  if (child.exitCode !== null) return;
  child.kill('SIGINT');
  await once(child, 'exit');
}

const json = async (context, url) => (await context.request.get(url)).json();

/** Runs in the page: pictures should not tell whose machine they were taken on. */
function hideHost(name) {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) walker.currentNode.data = walker.currentNode.data.replaceAll(name, 'crawler-1');
}

async function shoot(context, address, { name, path, width = 1280, height = 820, scheme = 'light' }) {
  const page = await context.newPage();
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
  await page.goto(`${address}${path}`);
  await page.locator('main h1').first().waitFor();
  // Whatever a screen waits for shows lines meanwhile.
  await page.locator('.lines').first().waitFor({ state: 'detached' });
  await page.evaluate(hideHost, hostname());
  await page.evaluate('document.fonts.ready.then(() => new Promise((next) => requestAnimationFrame(next)))');
  await page.screenshot({ path: join(out, `${name}.png`) });
  console.log(`wrote docs/screens/${name}.png`);
  await page.close();
}

/** Jobs as an operator would make them, of which one has run; answers that run. */
async function makeJobs(context, address, { slug }) {
  const post = async (path, data) => {
    const headers = { origin: address };
    const answer = await context.request.post(`${address}/api/v1${path}`, { data, headers });
    if (!answer.ok()) throw new Error(`POST ${path}: ${await answer.text()}`);
    return answer.json();
  };
  const { items } = await json(context, `${address}/api/v1/sources?limit=12`);
  for (const [index, one] of items.entries()) {
    const kind = index % 4 === 3 ? 'refresh' : 'crawl';
    await post('/jobs', {
      kind,
      source: one.slug,
      intervalMinutes: 6 + 2 * (index % 3),
      intervalType: 'hours',
    });
  }
  const { id } = await post('/jobs', { source: slug, maxPages: 60 });
  // It is taken within seconds; a picture of a run under way shows more than one of a run that is over.
  for (let tries = 0; tries < 60; tries += 1) {
    const runs = await json(context, `${address}/api/v1/jobs/${id}/executions`);
    if (runs.items[0]?.logLines > 10) return runs.items[0].id;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
  throw new Error(`job ${id} does not run`);
}

async function onDemo(browser) {
  const demo = await start(['demo', '--publishers', '40', '--seed', '7']);
  try {
    const { address, link } = demo;
    const context = await browser.newContext({ timezoneId: 'Europe/Vienna', locale: 'en-GB' });
    const first = await context.newPage();
    await first.goto(link);
    const startedAt = Date.now();
    let documents = [];
    for (;;) {
      const stats = await json(context, `${address}/api/v1/frontier/stats`);
      documents = (await json(context, `${address}/api/v1/documents?limit=20&language=en`)).items;
      const passedMs = Date.now() - startedAt;
      if ((stats.urls.fetched >= enoughDocuments && passedMs >= leastMs) || passedMs > mostMs) break;
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
    await first.close();
    const source = (await json(context, `${address}/api/v1/sources?limit=1`)).items[0];
    const channel = (await json(context, `${address}/api/v1/channels?limit=1`)).items[0];
    const domain = (await json(context, `${address}/api/v1/domains?limit=1&status=active`)).items[0];
    const waiting = (await json(context, `${address}/api/v1/frontier?limit=1&status=pending`)).items[0];
    const run = await makeJobs(context, address, source);
    const document = documents[0];
    const word = document.title.split(' ').find((part) => part.length > 5) ?? 'news';
    const shots = [
      { name: 'overview', path: '/', height: 1300 },
      { name: 'overview-dark', path: '/', scheme: 'dark' },
      { name: 'overview-narrow', path: '/', width: 360, height: 780 },
      { name: 'sources', path: '/sources' },
      { name: 'source', path: `/sources/${source.slug}` },
      { name: 'source-add', path: '/sources/add' },
      { name: 'source-selectors', path: `/sources/${source.slug}?tab=selectors` },
      { name: 'channels', path: '/channels' },
      { name: 'channel', path: `/channels/${channel.id}` },
      { name: 'frontier', path: '/frontier' },
      { name: 'frontier-narrow', path: '/frontier', width: 360, height: 780, scheme: 'dark' },
      { name: 'url', path: `/frontier/${waiting.id}` },
      { name: 'domains', path: '/domains' },
      { name: 'domain', path: `/domains/${domain.name}` },
      { name: 'jobs', path: '/jobs' },
      { name: 'job-run', path: `/jobs/runs/${run}` },
      { name: 'job-slots', path: '/jobs?tab=slots' },
      { name: 'documents', path: `/documents?q=${encodeURIComponent(word)}` },
      { name: 'document', path: `/documents/${document.id}?language=en` },
      { name: 'health', path: '/state' },
      { name: 'settings', path: '/settings' },
      { name: 'tokens', path: '/settings?tab=tokens' },
    ];
    for (const shot of shots) if (only.test(shot.name)) await shoot(context, address, shot);
    await context.close();
  } finally {
    await stop(demo);
  }
}

async function onFirstRun(browser) {
  const data = mkdtempSync(join(tmpdir(), 'outrider-screens-'));
  const up = await start(['up', '--port', '0', '--data', data]);
  try {
    const context = await browser.newContext({ locale: 'en-GB' });
    await shoot(context, up.address, { name: 'sign-in', path: '/' });
    const page = await context.newPage();
    await page.goto(up.link);
    await page.close();
    await shoot(context, up.address, { name: 'first-run', path: '/' });
    await context.close();
  } finally {
    await stop(up);
    rmSync(data, { recursive: true, force: true });
  }
}

mkdirSync(out, { recursive: true });
const browser = await launchBrowser();
try {
  await onFirstRun(browser);
  await onDemo(browser);
} finally {
  await browser.close();
}
