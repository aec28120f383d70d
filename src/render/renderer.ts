import { AppError, messageOf } from '../errors/index.ts';
import type { PageRenderer, RenderedPage, RenderRequest } from '../fetch/index.ts';
import type { Log, Metrics } from '../telemetry/index.ts';
import { Browser, type LaunchMode, launchModes, residentBytes } from './browser.ts';
import { CdpError } from './cdp.ts';
import type { FoundBrowser } from './find-browser.ts';
import { type PageLimits, PageRun, type Rendered } from './page.ts';
import { type Connect, RenderProxy } from './proxy.ts';

export type RendererOptions = {
  browser: FoundBrowser;
  userAgent: string;
  limits: PageLimits;
  /** A browser is replaced after so many pages. */
  pagesPerBrowser: number;
  connect: Connect;
  log: Log;
  metrics: Metrics;
  /** Most memory of a browser and all its processes. */
  maxMemoryBytes?: number;
};

// Two pages with all the scripts may hold, and the browser itself, are below this.
const defaultMemoryBytes = 1024 * 1024 * 1024;
const watchEveryMs = 500;
// The page's own time is the page's affair; beyond it the browser is the trouble.
const hangGraceMs = 5000;
const brokenMs = 60_000;
// A browser that nobody needs gives its memory back.
const idleMs = 60_000;

const stopping: Rendered = { outcome: 'failed', kind: 'aborted', detail: 'the process stops' };

/** What is known of the browser that runs now. */
export type RendererState = { pid: number | null; pages: number; launches: number } & LaunchMode;

/** Renders pages in browsers that come and go: one at a time, replaced after its pages and when it fails. */
export class Renderer implements PageRenderer {
  readonly #options: RendererOptions;
  readonly #proxy: RenderProxy;
  readonly #browsers = new Set<Browser>();
  /** Ends of browsers that have had their pages: a stop waits for them too, or they would leave their profiles. */
  readonly #retiring = new Set<Promise<void>>();
  #current: Promise<Browser> | null = null;
  #modes: readonly LaunchMode[] = launchModes();
  #launches = 0;
  #watch: NodeJS.Timeout | null = null;
  #brokenUntil = 0;
  #isClosed = false;

  constructor(options: RendererOptions) {
    this.#options = options;
    this.#proxy = new RenderProxy(options.connect);
  }

  /** Opens the way out and starts the first browser; rejects when there can be none. */
  async start(): Promise<void> {
    await this.#proxy.start();
    this.#current = this.#launch();
    await this.#current;
  }

  /** Whether a browser can be had: after a failed start not before a minute has passed. */
  get isReady(): boolean {
    return !this.#isClosed && performance.now() >= this.#brokenUntil;
  }

  get state(): RendererState {
    const [browser] = [...this.#browsers].slice(-1);
    return {
      pid: browser?.pid ?? null,
      pages: browser?.pages ?? 0,
      launches: this.#launches,
      ...this.#modes[0]!,
    };
  }

  /** Processes of all browsers, for whoever measures them. */
  async processes(): Promise<number[]> {
    return (await Promise.all([...this.#browsers].map((one) => one.processes()))).flat();
  }

  /** Runs a page that was fetched and answers what scripts made of it. Never rejects. */
  async render(request: RenderRequest): Promise<RenderedPage> {
    const { limits, metrics, log } = this.#options;
    const startedAt = performance.now();
    const rendered = await this.#attempt(request);
    const outcome =
      rendered.outcome === 'rendered' && rendered.cut !== null
        ? `cut_${rendered.cut}`
        : rendered.outcome === 'failed'
          ? rendered.kind
          : rendered.outcome;
    metrics.renderedPages.inc({ outcome });
    metrics.renderSeconds.observe((performance.now() - startedAt) / 1000);
    if (rendered.outcome === 'failed' && rendered.kind !== 'aborted')
      log.warn({ url: request.url, kind: rendered.kind, detail: rendered.detail }, 'a page was not rendered');
    if (rendered.outcome === 'rendered' && rendered.cut !== null)
      log.info({ url: request.url, cut: rendered.cut, limits }, 'a page wanted more than it may have');
    if (rendered.outcome !== 'rendered') return rendered;
    const { html, ...facts } = rendered;
    return { ...facts, body: Buffer.from(html, 'utf8') };
  }

  /** Ends every browser, and with them the pages under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#watch !== null) clearInterval(this.#watch);
    await Promise.allSettled([this.#current]);
    await Promise.all([...[...this.#browsers].map((one) => one.close()), ...this.#retiring]);
    await this.#proxy.close();
  }

  async #attempt(request: RenderRequest): Promise<Rendered> {
    const { limits, userAgent } = this.#options;
    const failed = (detail: string): Rendered => ({ outcome: 'failed', kind: 'render_crashed', detail });
    if (this.#isClosed || request.signal.aborted)
      return { outcome: 'failed', kind: 'aborted', detail: 'the lease ended' };
    let browser: Browser;
    try {
      browser = await this.#take();
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      // No page's fault: it goes back, and nobody is asked for another before a while.
      this.#brokenUntil = performance.now() + brokenMs;
      this.#options.log.error({ error }, 'no browser can be started; pages that need one wait');
      return { outcome: 'failed', kind: 'aborted', detail: error.message };
    }
    const meter = this.#proxy.admit(
      { maxBytes: limits.maxBytes, maxConnections: limits.maxRequests },
      request.proxies,
    );
    browser.open += 1;
    const hung = setTimeout(
      () => browser.kill('the browser did not answer in time'),
      limits.timeoutMs + hangGraceMs,
    );
    try {
      const { url, contentType, headers, body } = request;
      const run = new PageRun(browser, { url, contentType, headers, body }, { limits, meter });
      const proxy = `http://127.0.0.1:${this.#proxy.port}`;
      const rendered = await run.run({ proxy, userAgent, signal: request.signal });
      return this.#isClosed && rendered.outcome === 'failed' ? stopping : rendered;
    } catch (error) {
      if (!(error instanceof CdpError) && !(error instanceof AppError)) throw error;
      // One that refuses a command is of no use any more.
      browser.kill(messageOf(error));
      return this.#isClosed ? stopping : failed(browser.why ?? messageOf(error));
    } finally {
      clearTimeout(hung);
      this.#proxy.dismiss(meter);
      browser.open -= 1;
      browser.usedAt = performance.now();
      this.#retire(browser);
    }
  }

  /** The browser of the next page: the one that runs, or a new one. */
  async #take(): Promise<Browser> {
    for (;;) {
      const before = this.#current;
      const running = await before;
      if (running !== null && running.why === null && running.pages < this.#options.pagesPerBrowser) {
        running.pages += 1;
        return running;
      }
      // Those who waited for the same one share its successor.
      if (this.#current !== before) continue;
      const next = this.#launch();
      this.#current = next;
      // Who waits for it learns of the failure; the next page tries again.
      next.catch(() => {
        if (this.#current === next) this.#current = null;
      });
    }
  }

  async #launch(): Promise<Browser> {
    const { browser, log, metrics } = this.#options;
    let launched: Browser | null = null;
    while (launched === null) {
      const [mode, ...weaker] = this.#modes as [LaunchMode, ...LaunchMode[]];
      try {
        launched = await Browser.launch({ browser, proxyPort: this.#proxy.port, mode, log });
      } catch (error) {
        if (weaker.length === 0) throw error;
        this.#modes = weaker;
        log.warn(
          { why: messageOf(error), next: weaker[0] },
          "the browser cannot run in its own sandbox or under its own user here; its proxy and a page's policies remain",
        );
      }
    }
    this.#launches += 1;
    metrics.browserLaunches.inc();
    this.#browsers.add(launched);
    this.#watch ??= setInterval(() => void this.#watchMemory(), watchEveryMs).unref();
    if (this.#isClosed) launched.kill('the process stops');
    return launched;
  }

  /** Ends a browser that has had its pages, once the last of them is done. */
  #retire(browser: Browser): void {
    const isDone = browser.why !== null || browser.pages >= this.#options.pagesPerBrowser;
    if (!isDone || browser.open > 0 || !this.#browsers.delete(browser)) return;
    const ended: Promise<void> = browser.close().finally(() => this.#retiring.delete(ended));
    this.#retiring.add(ended);
  }

  async #watchMemory(): Promise<void> {
    const most = this.#options.maxMemoryBytes ?? defaultMemoryBytes;
    for (const browser of this.#browsers) {
      if (browser.open === 0 && performance.now() - browser.usedAt > idleMs) {
        browser.kill('the browser was not needed');
        this.#retire(browser);
      }
      if (browser.why !== null || browser.open === 0) continue;
      try {
        const bytes = residentBytes(await browser.processes());
        if (bytes !== null && bytes > most)
          browser.kill(`the browser took ${Math.round(bytes / 1e6)} MB of memory`);
      } catch (error) {
        // It ended, or is silent: the page in it is told by its own time.
        if (!(error instanceof CdpError)) throw error;
      }
    }
  }
}
