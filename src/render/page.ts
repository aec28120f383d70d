import type { Browser } from './browser.ts';
import { type CdpEvent, textOf } from './cdp.ts';
import type { PageMeter } from './proxy.ts';

/** A page as its server answered it, to be run in a browser. */
export type PageInput = {
  url: string;
  contentType: string | null;
  /** Other headers of the answer that a browser acts upon. */
  headers: Readonly<Record<string, string>>;
  body: Buffer;
};

export type PageLimits = { timeoutMs: number; maxRequests: number; maxBytes: number };

/** What a browser made of a page. */
export type Rendered =
  | {
      outcome: 'rendered';
      html: string;
      requests: number;
      bytes: number;
      /** What it wanted more of than it may have. */
      cut: 'requests' | 'bytes' | 'time' | null;
    }
  /** A script led elsewhere. */
  | { outcome: 'redirect'; location: string }
  | {
      outcome: 'failed';
      kind: 'render_timeout' | 'render_crashed' | 'render_too_large' | 'aborted';
      detail: string;
    };

/**
 * What a page may do, said to the engine itself: scripts and what they load over HTTP. No frames, workers, pictures,
 * fonts, sounds, forms or plugins, no socket but those of HTTP; and in the sandbox no windows, dialogs or downloads. A
 * page's own policies hold besides it.
 */
const policy = [
  "default-src http: https: data: blob: 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval'",
  'connect-src http: https: data: blob:',
  "child-src 'none'",
  "frame-src 'none'",
  "worker-src 'none'",
  "img-src 'none'",
  "media-src 'none'",
  "font-src 'none'",
  "object-src 'none'",
  "form-action 'none'",
  "webrtc 'block'",
  'sandbox allow-scripts allow-same-origin',
].join('; ');

const blockedTypes = new Set([
  'Image',
  'Media',
  'Font',
  'Ping',
  'CSPViolationReport',
  'Prefetch',
  'TextTrack',
]);
// Of the answer's headers these matter to a script; all others are ours to decide.
const passedHeaders = ['content-security-policy', 'content-language', 'set-cookie', 'referrer-policy'];
// Scripts have had their say once nothing was loaded for half a second; with up to two connections left open, after this.
const almostIdleGraceMs = 3000;
const reloadGraceMs = 1000;
// Kept back of the time for reading what was rendered.
const readMs = 2000;

/** Runs one page in a context of its own and reads what has become of it. */
export class PageRun {
  readonly #browser: Browser;
  readonly #input: PageInput;
  readonly #limits: PageLimits;
  readonly #meter: PageMeter;
  readonly #rest: Promise<'idle' | 'late' | 'redirect' | 'crashed'>;
  #settle: (how: 'idle' | 'late' | 'redirect' | 'crashed') => void = () => undefined;
  #timers: NodeJS.Timeout[] = [];
  #sessionId: string | null = null;
  #frame = '';
  #isServed = false;
  #isLoaded = false;
  #requests = 0;
  #isOverRequests = false;
  #location: string | null = null;

  constructor(browser: Browser, input: PageInput, options: { limits: PageLimits; meter: PageMeter }) {
    this.#browser = browser;
    this.#input = input;
    this.#limits = options.limits;
    this.#meter = options.meter;
    this.#rest = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  /** Everything from the open page to its markup. Rejects with what the browser rejects with. */
  async run(options: { proxy: string; userAgent: string; signal: AbortSignal }): Promise<Rendered> {
    const { signal } = options;
    const startedAt = performance.now();
    const late = (): void => this.#settle('late');
    this.#timers.push(setTimeout(late, Math.max(1, this.#limits.timeoutMs - readMs)));
    signal.addEventListener('abort', late, { once: true });
    let page: { context: string; sessionId: string | null } | null = null;
    try {
      const opened = await this.#browser.openPage(options.proxy, (event) => this.#take(event));
      page = opened;
      this.#sessionId = opened.sessionId;
      await this.#prepare(opened.target, options.userAgent);
      // Answered when the page is there; what is waited for is its rest.
      this.#send('Page.navigate', { url: this.#input.url }).catch(() => undefined);
      const how = await this.#rest;
      if (signal.aborted) return { outcome: 'failed', kind: 'aborted', detail: 'the lease ended' };
      if (how === 'redirect') return { outcome: 'redirect', location: this.#location ?? '' };
      if (how === 'crashed')
        return {
          outcome: 'failed',
          kind: 'render_crashed',
          detail: this.#browser.why ?? 'the page crashed in the browser',
        };
      return await this.#read(how, startedAt);
    } finally {
      signal.removeEventListener('abort', late);
      for (const timer of this.#timers) clearTimeout(timer);
      if (page !== null) await this.#browser.closePage(page);
    }
  }

  async #prepare(target: string, userAgent: string): Promise<void> {
    // The main frame has the id of its target.
    this.#frame = target;
    await Promise.all([
      this.#send('Page.enable'),
      this.#send('Page.setLifecycleEventsEnabled', { enabled: true }),
      this.#send('Inspector.enable'),
      this.#send('Emulation.setUserAgentOverride', { userAgent }),
      this.#send('Fetch.enable', { patterns: [{ urlPattern: '*' }], handleAuthRequests: true }),
    ]);
  }

  #send(method: string, params: object = {}, timeoutMs = 10_000): Promise<Record<string, unknown>> {
    return this.#browser.send(method, params, { sessionId: this.#sessionId ?? undefined, timeoutMs });
  }

  /** An answer to an event; a page that is gone meanwhile needs none. */
  #reply(method: string, params: object): void {
    this.#send(method, params).catch(() => undefined);
  }

  #take({ method, params }: CdpEvent): void {
    switch (method) {
      case 'Fetch.requestPaused':
        this.#decide(params);
        return;
      case 'Fetch.authRequired':
        this.#authenticate(params);
        return;
      case 'Page.javascriptDialogOpening':
        this.#reply('Page.handleJavaScriptDialog', { accept: false });
        return;
      case 'Inspector.targetCrashed':
        this.#settle('crashed');
        return;
      case 'Page.lifecycleEvent':
        this.#live(params);
        return;
    }
  }

  #live({ name, frameId }: Record<string, unknown>): void {
    if (!this.#isServed || frameId !== this.#frame) return;
    if (name === 'DOMContentLoaded') this.#isLoaded = true;
    if (!this.#isLoaded) return;
    if (name === 'networkIdle') this.#settle('idle');
    if (name === 'networkAlmostIdle')
      this.#timers.push(setTimeout(() => this.#settle('idle'), almostIdleGraceMs));
  }

  /** Only to our own proxy does it say who it is. */
  #authenticate(params: Record<string, unknown>): void {
    const { source } = (params.authChallenge ?? {}) as { source?: string };
    const { user: username, password } = this.#meter.credentials;
    this.#reply('Fetch.continueWithAuth', {
      requestId: params.requestId,
      authChallengeResponse:
        source === 'Proxy'
          ? { response: 'ProvideCredentials', username, password }
          : { response: 'CancelAuth' },
    });
  }

  #decide(params: Record<string, unknown>): void {
    const { requestId, resourceType, frameId } = params;
    const { url = '' } = (params.request ?? {}) as { url?: string };
    const refuse = (): void =>
      this.#reply('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' });
    if (resourceType === 'Document' && frameId === this.#frame) {
      if (!this.#isServed) this.#serve(requestId);
      else this.#leave(requestId, url);
      return;
    }
    // What a script made itself needs no network.
    if (/^(data|blob):/i.test(url)) {
      this.#reply('Fetch.continueRequest', { requestId });
      return;
    }
    if (resourceType === 'Document' || blockedTypes.has(String(resourceType)) || !/^https?:/i.test(url)) {
      refuse();
      return;
    }
    if (this.#requests >= this.#limits.maxRequests) {
      this.#isOverRequests = true;
      refuse();
      return;
    }
    this.#requests += 1;
    this.#reply('Fetch.continueRequest', { requestId });
  }

  /** The page itself was fetched like any other: the browser is given what came. */
  #serve(requestId: unknown): void {
    this.#isServed = true;
    const { headers, body, contentType } = this.#input;
    // Each cookie is a header of its own.
    const passed = passedHeaders.flatMap((name) =>
      headers[name] === undefined ? [] : headers[name].split('\n').map((value) => ({ name, value })),
    );
    this.#reply('Fetch.fulfillRequest', {
      requestId,
      responseCode: 200,
      responseHeaders: [
        ...passed,
        { name: 'content-type', value: contentType ?? 'text/html' },
        { name: 'content-security-policy', value: policy },
        { name: 'x-dns-prefetch-control', value: 'off' },
      ],
      body: body.toString('base64'),
    });
  }

  /** A script leads elsewhere: that is a redirect, and whoever fetches decides what becomes of it. */
  #leave(requestId: unknown, url: string): void {
    this.#reply('Fetch.failRequest', { requestId, errorReason: 'Aborted' });
    if (withoutHash(url) === withoutHash(this.#input.url)) {
      // It wants to begin anew; what it has shown by then is what it shows.
      this.#timers.push(setTimeout(() => this.#settle('idle'), reloadGraceMs));
      return;
    }
    this.#location = url;
    this.#settle('redirect');
  }

  async #read(how: 'idle' | 'late', startedAt: number): Promise<Rendered> {
    const left = Math.max(500, startedAt + this.#limits.timeoutMs - performance.now());
    let html: string;
    try {
      const { root } = await this.#send('DOM.getDocument', { depth: 0 }, left);
      const { nodeId } = (root ?? {}) as { nodeId?: number };
      html = textOf(await this.#send('DOM.getOuterHTML', { nodeId }, left), 'outerHTML');
    } catch (error) {
      if (this.#browser.why !== null) throw error;
      return {
        outcome: 'failed',
        kind: 'render_timeout',
        detail: `its scripts did not come to an end within ${this.#limits.timeoutMs} ms`,
      };
    }
    if (Buffer.byteLength(html) > this.#limits.maxBytes)
      return {
        outcome: 'failed',
        kind: 'render_too_large',
        detail: `more than ${this.#limits.maxBytes} bytes when rendered`,
      };
    const cut = this.#meter.isSpent
      ? 'bytes'
      : this.#isOverRequests
        ? 'requests'
        : how === 'late'
          ? 'time'
          : null;
    return { outcome: 'rendered', html, requests: this.#requests, bytes: this.#meter.bytes, cut };
  }
}

const withoutHash = (url: string): string => url.split('#', 1)[0] ?? url;
