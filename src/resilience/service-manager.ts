import { spawn } from 'node:child_process';
import type { Log } from '../telemetry/index.ts';

type Env = Record<string, string | undefined>;

const mostChars = 200;
const sendTimeoutMs = 10_000;

/**
 * Speaks to systemd where it has started us and wants to hear (`Type=notify`, `WatchdogSec=`). Node has no datagram
 * sockets of the unix kind, so each message is sent by `systemd-notify`, which every such machine has.
 */
export class ServiceManager {
  readonly #socket: string | null;
  readonly #beatMs: number | null;
  readonly #log: Log;
  #timer: NodeJS.Timeout | null = null;
  #isBeating = false;
  #hasFailed = false;

  /** Takes its variables out of the environment: what we start must not speak for us. */
  constructor(env: Env, log: Log) {
    this.#log = log;
    this.#socket = env.NOTIFY_SOCKET || null;
    const isForUs = env.WATCHDOG_PID === undefined || Number(env.WATCHDOG_PID) === process.pid;
    const watchdogMs = Number(env.WATCHDOG_USEC) / 1000;
    // A third, so that one beat may be lost.
    this.#beatMs = isForUs && watchdogMs > 0 ? watchdogMs / 3 : null;
    for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_PID', 'WATCHDOG_USEC']) delete env[name];
  }

  /** The service is up; `isWell` says whether a beat may be sent. */
  ready(status: string, isWell: () => boolean): void {
    this.#send([`READY=1`, statusOf(status)]);
    if (this.#socket === null || this.#beatMs === null) return;
    this.#timer = setInterval(() => {
      // A beat under way is waited for: a slow machine must not gather processes.
      if (isWell() && !this.#isBeating) this.#beat();
    }, this.#beatMs);
    this.#timer.unref();
  }

  /** The service begins to stop. It goes on beating: the grace period may be longer than the watchdog's. */
  stopping(): void {
    this.#send(['STOPPING=1', statusOf('stopping; requests under way may finish')]);
  }

  /** Says nothing more. */
  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  #beat(): void {
    this.#isBeating = true;
    this.#send(['WATCHDOG=1'], () => {
      this.#isBeating = false;
    });
  }

  #send(lines: readonly string[], done: () => void = () => undefined): void {
    if (this.#socket === null) return;
    const child = spawn('systemd-notify', [...lines], {
      stdio: 'ignore',
      timeout: sendTimeoutMs,
      env: { PATH: process.env.PATH ?? '/usr/bin:/bin', NOTIFY_SOCKET: this.#socket },
    });
    child.unref();
    child.on('error', (error) => {
      this.#complain({ error });
      done();
    });
    child.on('exit', (code, signal) => {
      if (code !== 0) this.#complain({ code, signal });
      done();
    });
  }

  #complain(fields: object): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#log.warn(fields, 'systemd could not be told how we do: is systemd-notify there?');
  }
}

// One line, or it would be read as another message.
const statusOf = (text: string): string => `STATUS=${text.replace(/[\r\n]+/g, ' ').slice(0, mostChars)}`;
