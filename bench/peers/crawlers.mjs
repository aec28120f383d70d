// Other ways to read the same pages, for bench/crawl. Runs on the Node that bench runs on.
// Usage: crawlers.mjs <crawlee|crawlee-list|fetch-only> <file of pages> <concurrency>. The file holds { pages: [url], addresses: { host: address } }.
// Protocol: prints { ready: true }; for each line "<from> <to>" it reads it crawls these pages and prints
// { pages, textChars, elapsedMs }. A page that was not read ends the process: a figure without it would be a lie.
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { createInterface } from 'node:readline';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

const [peer, file, concurrencyText] = process.argv.slice(2);
const { pages, addresses } = JSON.parse(readFileSync(file, 'utf8'));
const concurrency = Number(concurrencyText);
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

/** Names of the simulated web, as dns.lookup answers. */
function lookup(host, options, callback) {
  const done = typeof options === 'function' ? options : callback;
  const address = addresses[host];
  if (address === undefined) done(new Error(`no address of ${host}`));
  else if (options.all) done(null, [{ address, family: 4 }]);
  else done(null, address, 4);
}

const openers = {
  crawlee: () => openCrawlee('queue'),
  'crawlee-list': () => openCrawlee('list'),
  'fetch-only': openFetchOnly,
};
const crawl = await openers[peer]();
say({ ready: true });
for await (const line of createInterface({ input: process.stdin })) {
  const [from, to] = line.split(' ').map(Number);
  const startedAt = performance.now();
  const done = await crawl(pages.slice(from, to));
  if (done.pages !== to - from) throw new Error(`${peer} read ${done.pages} of ${to - from} pages`);
  say({ ...done, elapsedMs: performance.now() - startedAt });
}
process.exit(0);

/**
 * CheerioCrawler without anything that costs and is not needed for the comparison: nothing is persisted, no sessions,
 * no robots.txt, no invented browser headers, a fixed number of requests at once over kept connections. With its request
 * queue in memory, which knows duplicates and can grow, or with a fixed list, which cannot.
 */
async function openCrawlee(from) {
  const { CheerioCrawler, Configuration, log, LogLevel, RequestList } = await import('@crawlee/cheerio');
  log.setLevel(LogLevel.ERROR);
  const configuration = new Configuration({
    persistStorage: false,
    purgeOnStart: false,
    availableMemoryRatio: 1,
    systemInfoIntervalMillis: 60_000,
    persistStateIntervalMillis: 600_000,
  });
  const agent = { http: new http.Agent({ keepAlive: true }) };
  return async (urls) => {
    let read = 0;
    let textChars = 0;
    const sources = urls.map((url) => ({ url }));
    const crawler = new CheerioCrawler(
      {
        ...(from === 'list' ? { requestList: await RequestList.open({ sources }) } : {}),
        minConcurrency: concurrency,
        maxConcurrency: concurrency,
        autoscaledPoolOptions: { desiredConcurrency: concurrency, loggingIntervalSecs: null },
        useSessionPool: false,
        persistCookiesPerSession: false,
        retryOnBlocked: false,
        respectRobotsTxtFile: false,
        maxRequestRetries: 0,
        statisticsOptions: { persistenceOptions: { enable: false } },
        preNavigationHooks: [
          (_context, gotOptions) => {
            gotOptions.dnsLookup = lookup;
            gotOptions.agent = agent;
            gotOptions.useHeaderGenerator = false;
            gotOptions.headers = { 'accept-encoding': 'gzip, br' };
          },
        ],
        requestHandler: async ({ $ }) => {
          const title = $('title').first().text();
          $('script, style, noscript').remove();
          const text = $('body').text();
          if (title !== '' && text !== '') read += 1;
          textChars += text.length;
        },
        failedRequestHandler: ({ request }, error) => {
          process.stderr.write(`crawlee: ${request.url}: ${error.message}\n`);
        },
      },
      configuration,
    );
    await crawler.run(from === 'queue' ? sources : undefined);
    return { pages: read, textChars };
  };
}

/** The least anybody must do: one request, unpacking, one SAX pass. */
async function openFetchOnly() {
  const { Agent } = await import('undici');
  const { Parser } = await import('htmlparser2');
  const agent = new Agent({ connect: { lookup }, connections: 1 });
  return async (urls) => {
    let next = 0;
    let read = 0;
    let textChars = 0;
    const one = async () => {
      while (next < urls.length) {
        const url = urls[next++];
        const { statusCode, headers, body } = await agent.request({
          origin: new URL(url).origin,
          path: url.slice(new URL(url).origin.length),
          method: 'GET',
          headers: { 'user-agent': 'bench', 'accept-encoding': 'gzip, br' },
        });
        const wire = Buffer.from(await body.arrayBuffer());
        const encoding = headers['content-encoding'];
        const bytes =
          encoding === 'gzip' ? gunzipSync(wire) : encoding === 'br' ? brotliDecompressSync(wire) : wire;
        const { title, text } = readText(Parser, bytes.toString('utf8'));
        if (statusCode === 200 && title !== '' && text !== '') read += 1;
        textChars += text.length;
      }
    };
    await Promise.all(Array.from({ length: concurrency }, one));
    return { pages: read, textChars };
  };
}

function readText(Parser, html) {
  let title = '';
  let text = '';
  let inside = '';
  const parser = new Parser({
    onopentag: (name) => {
      if (name === 'title' || name === 'script' || name === 'style') inside = name;
    },
    onclosetag: (name) => {
      if (name === inside) inside = '';
    },
    ontext: (data) => {
      if (inside === '') text += data;
      else if (inside === 'title') title += data;
    },
  });
  parser.write(html);
  parser.end();
  return { title, text };
}
