import { type ChildProcess, spawn } from 'node:child_process';
import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { AppError } from '../errors/index.ts';
import type { Log } from '../telemetry/index.ts';
import { CdpConnection, type CdpEvent, textOf } from './cdp.ts';
import type { FoundBrowser } from './find-browser.ts';
import { browserFlags } from './flags.ts';

/** How much keeps a page from the machine: the sandbox of Chromium, and a user of its own where we are root. */
export type LaunchMode = { sandbox: boolean; ownUser: boolean };

/** The ways a browser may be started here, the safest first. */
export const launchModes = (): LaunchMode[] =>
  process.geteuid?.() === 0
    ? [
        { sandbox: true, ownUser: true },
        { sandbox: false, ownUser: true },
        // Chromium's sandbox refuses to run under root.
        { sandbox: false, ownUser: false },
      ]
    : [
        { sandbox: true, ownUser: false },
        { sandbox: false, ownUser: false },
      ];

export type LaunchOptions = {
  browser: FoundBrowser;
  proxyPort: number;
  mode: LaunchMode;
  log: Log;
};

const launchTimeoutMs = 20_000;
const closeTimeoutMs = 3000;
// Under root the browser runs as nobody we know: a user id without account, files or rights, and not the database's.
const dedicatedUid = 54_331;
const profilePrefix = 'outrider-profile-';

/** Takes the events of one page. */
export type PageEvents = (event: CdpEvent) => void;

/** One Chromium process and everything it started. */
export class Browser {
  readonly pid: number;
  /** Pages that were begun in it. */
  pages = 0;
  /** Pages that are open in it. */
  open = 0;
  /** When the last of them ended. */
  usedAt = performance.now();
  readonly #process: ChildProcess;
  readonly #connection: CdpConnection;
  readonly #sessions = new Map<string, PageEvents>();
  readonly #contexts = new Map<string, string | null>();
  readonly #gone: Promise<void>;
  #why: string | null = null;

  private constructor(process: ChildProcess, profile: string, log: Log) {
    this.#process = process;
    this.pid = process.pid ?? 0;
    const [, , , to, from] = process.stdio as unknown as [null, null, null, Writable, Readable];
    this.#connection = new CdpConnection(
      { to, from },
      { onEvent: (event) => this.#take(event), onBroken: (why) => this.kill(why) },
    );
    this.#gone = new Promise((resolve) => {
      process.once('close', (code, signal) => {
        this.kill(`the browser ended (${signal ?? `exit code ${code}`})`);
        removeProfile(profile, log);
        resolve();
      });
    });
  }

  /** Starts a browser with a profile of its own, which is removed with it. */
  static async launch(options: LaunchOptions): Promise<Browser> {
    const { browser, log } = options;
    removeStaleProfiles(log);
    const profile = mkdtempSync(join(tmpdir(), `${profilePrefix}${process.pid}-`));
    const { ownUser, sandbox } = options.mode;
    if (ownUser) chownSync(profile, dedicatedUid, dedicatedUid);
    const child = spawn(browser.path, browserFlags({ proxyPort: options.proxyPort, profile, sandbox }), {
      // Nothing of our environment, where secrets may be, goes along.
      env: {
        PATH: '/usr/local/bin:/usr/bin:/bin',
        HOME: profile,
        TMPDIR: profile,
        LANG: 'C.UTF-8',
        ...browser.env,
      },
      cwd: profile,
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
      // A group of its own, so that everything it started can be ended with it.
      detached: true,
      ...(ownUser ? { uid: dedicatedUid, gid: dedicatedUid } : {}),
    });
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      if (said.length < 4000) said += chunk.toString('latin1');
    });
    if (child.pid === undefined) {
      const error = await new Promise<Error>((resolve) => child.once('error', resolve));
      rmSync(profile, { recursive: true, force: true });
      throw launchFailed(browser.path, error.message);
    }
    const started = new Browser(child, profile, log);
    try {
      await started.send('Target.setDiscoverTargets', { discover: true }, { timeoutMs: launchTimeoutMs });
      return started;
    } catch (error) {
      await started.close();
      const line =
        said.split('\n').find((one) => /FATAL|ERROR|sandbox/i.test(one)) ?? said.split('\n')[0] ?? '';
      throw launchFailed(browser.path, (line || String(error)).trim().slice(0, 300));
    }
  }

  /** Why it is gone; null: it lives. */
  get why(): string | null {
    return this.#why;
  }

  /** Sends a command to the browser, or with a session to a page. */
  send(
    method: string,
    params: object = {},
    options: { sessionId?: string | undefined; timeoutMs?: number } = {},
  ): Promise<Record<string, unknown>> {
    return this.#connection.send(method, params, options);
  }

  /** Opens a page in a context of its own: no cookie, cache or storage outlives it or is shared. */
  async openPage(
    proxy: string,
    events: PageEvents,
  ): Promise<{ context: string; target: string; sessionId: string }> {
    const made = await this.send('Target.createBrowserContext', {
      disposeOnDetach: true,
      proxyServer: proxy,
      proxyBypassList: '<-loopback>',
    });
    const context = textOf(made, 'browserContextId');
    this.#contexts.set(context, null);
    await this.send('Browser.setDownloadBehavior', { behavior: 'deny', browserContextId: context });
    // Grants nothing, which refuses all the others.
    await this.send('Browser.grantPermissions', { permissions: [], browserContextId: context });
    const target = textOf(
      await this.send('Target.createTarget', { url: 'about:blank', browserContextId: context }),
      'targetId',
    );
    this.#contexts.set(context, target);
    const attached = await this.send('Target.attachToTarget', { targetId: target, flatten: true });
    const sessionId = textOf(attached, 'sessionId');
    this.#sessions.set(sessionId, events);
    return { context, target, sessionId };
  }

  /** Ends a page; a browser that cannot is killed. */
  async closePage(page: { context: string; sessionId: string | null }): Promise<void> {
    if (page.sessionId !== null) this.#sessions.delete(page.sessionId);
    this.#contexts.delete(page.context);
    if (this.#why !== null) return;
    try {
      const asked = { browserContextId: page.context };
      await this.send('Target.disposeBrowserContext', asked, { timeoutMs: closeTimeoutMs });
    } catch (error) {
      this.kill(`a page could not be closed: ${(error as Error).message}`);
    }
  }

  /** Processes of the browser, by their ids. */
  async processes(): Promise<number[]> {
    const { processInfo } = await this.send('SystemInfo.getProcessInfo', {}, { timeoutMs: closeTimeoutMs });
    const list = Array.isArray(processInfo) ? (processInfo as { id?: unknown }[]) : [];
    return list.map(({ id }) => Number(id)).filter((id) => Number.isInteger(id) && id > 0);
  }

  /** Ends it at once, with everything it started. */
  kill(why: string): void {
    this.#why ??= why;
    this.#connection.break(why);
    // Its pages wait for events that will not come.
    for (const events of this.#sessions.values())
      events({ method: 'Inspector.targetCrashed', params: {}, sessionId: null });
    this.#sessions.clear();
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    try {
      process.kill(-this.pid, 'SIGKILL');
    } catch (error) {
      if ((error as { code?: string }).code !== 'ESRCH') throw error;
    }
  }

  /** Ends it and waits until it is gone and its profile removed. */
  async close(): Promise<void> {
    this.kill('the browser was closed');
    await this.#gone;
  }

  #take(event: CdpEvent): void {
    if (event.sessionId !== null) {
      this.#sessions.get(event.sessionId)?.(event);
      return;
    }
    if (event.method !== 'Target.targetCreated') return;
    // Whatever a page opens besides itself is closed: windows, tabs, workers.
    const info = event.params.targetInfo as { targetId?: string; browserContextId?: string; type?: string };
    const own = this.#contexts.get(info.browserContextId ?? '');
    if (own === undefined || own === null || own === info.targetId || info.type !== 'page') return;
    this.send('Target.closeTarget', { targetId: info.targetId }).catch(() => undefined);
  }
}

const launchFailed = (path: string, why: string): AppError =>
  new AppError('browser_failed', `the browser ${path} does not start: ${why}`, {
    advice:
      'Run it by hand with --version to see what is missing, or name another one in render.browser_path.',
  });

/** Resident memory of processes; null where the system does not tell. */
export function residentBytes(pids: readonly number[]): number | null {
  let sum = 0;
  for (const pid of pids) {
    try {
      // The second number is pages of 4 kB that are in memory.
      sum += Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096;
    } catch (error) {
      const { code } = error as { code?: string };
      if (code !== 'ENOENT' && code !== 'ESRCH') throw error;
    }
  }
  return sum === 0 ? null : sum;
}

function removeProfile(profile: string, log: Log): void {
  try {
    rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  } catch (error) {
    log.warn({ error, profile }, "a browser's profile could not be removed; the next start tries again");
  }
}

/** Profiles of processes that were killed. */
function removeStaleProfiles(log: Log): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = name.startsWith(profilePrefix) ? Number(name.slice(profilePrefix.length).split('-')[0]) : 0;
    if (pid > 0 && pid !== process.pid && !isAlive(pid)) removeProfile(join(tmpdir(), name), log);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: string }).code !== 'ESRCH';
  }
}
