import type { LoopHealth } from './loop.ts';
import type { RestartHistory } from './restarts.ts';

/** What a role tells its supervisor. */
export type RoleMessage =
  | { type: 'ready'; address: string | null }
  | { type: 'beat'; loops: readonly object[] };

/** What the supervisor tells a role that is ready. */
export type SupervisorMessage = { type: 'restarts'; history: RestartHistory };

const beatMs = 1000;

/** The role's side: says that it lives, from its first moment on, and later that it is ready. */
export class SupervisorLine {
  #loops: () => readonly LoopHealth[] = () => [];
  #timer: NodeJS.Timeout | null = null;

  /** Begins to speak, where there is somebody who hears it. */
  open(onRestarts: (history: RestartHistory) => void): void {
    if (process.send === undefined) return;
    process.on('message', (message: SupervisorMessage) => {
      if (message.type === 'restarts') onRestarts(message.history);
    });
    this.#timer = setInterval(() => this.#say({ type: 'beat', loops: this.#briefs() }), beatMs);
    this.#timer.unref();
  }

  /** Says that the role is ready. */
  ready(address: string | null, loops: () => readonly LoopHealth[]): void {
    this.#loops = loops;
    this.#say({ type: 'ready', address });
  }

  /** What the supervisor can tell of a role that then says nothing more. */
  #briefs(): object[] {
    return this.#loops().map(({ name, turns, errorsInRow, lastError }) => ({
      name,
      turns,
      ...(errorsInRow === 0 ? {} : { errorsInRow, lastError: lastError?.slice(0, 200) }),
    }));
  }

  #say(message: RoleMessage): void {
    // The channel may close while we speak; the disconnect handler stops the role then.
    if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
  }
}
