import { createHash } from 'node:crypto';
import type { SettleResponse, Validators } from '../frontier/index.ts';
import type { Clock } from '../telemetry/index.ts';
import { Recording, type RecordingRoom } from './client/index.ts';
import { timeId } from './time-id.ts';

/** Of one body; longer than any page or feed may be, so that only sitemaps and probes are ever cut. */
export const mostRecordedBytes = 16 * 1024 * 1024;
/** Of all that a fetcher has not settled yet: a machine of 1 GB has room for it. */
export const recordingRoomBytes = 64 * 1024 * 1024;

// Above it a run settles what it has: fifty domains with so much each would already pass the room of all.
const heavyBytes = 2 * 1024 * 1024;
// Longer than the client reads out a body that nobody wants.
const patienceMs = 3000;

type Kept = { id: string; url: string; sent: Validators; recording: Recording };

/** What a run keeps of the responses it got until they are settled. */
export class Recordings {
  readonly #room: RecordingRoom;
  readonly #clock: Clock;
  #kept: Kept[] = [];

  constructor(room: RecordingRoom, clock: Clock) {
    this.#room = room;
    this.#clock = clock;
  }

  /** Records the next request. */
  begin(url: string, sent: Validators): Recording {
    const recording = new Recording(this.#room, mostRecordedBytes);
    this.#kept.push({ id: timeId(this.#clock.now()), url, sent, recording });
    return recording;
  }

  /** Whether so much waits that it should be settled. */
  get isHeavy(): boolean {
    if (this.#kept.length === 0) return false;
    const bytes = this.#kept.reduce((sum, { recording }) => sum + recording.bytes, 0);
    return bytes >= heavyBytes || this.#room.used >= recordingRoomBytes / 2;
  }

  /** What was answered, to be settled; a body that is still read out is waited for. Stays until released. */
  async answered(): Promise<SettleResponse[]> {
    if (this.#kept.length === 0) return [];
    const answered = this.#kept.filter(({ recording }) => recording.head !== null);
    const open = answered.filter(({ recording }) => !recording.isOver);
    if (open.length > 0) {
      const patience = new AbortController();
      const all = Promise.all(open.map(({ recording }) => recording.ended));
      await Promise.race([all, this.#clock.wait(patienceMs, patience.signal)]);
      patience.abort();
      for (const { recording } of open) recording.end('time');
    }
    return answered.map(responseOf);
  }

  /** Forgets everything. */
  release(): void {
    for (const { recording } of this.#kept) recording.release();
    this.#kept = [];
  }
}

function responseOf({ id, url, sent, recording }: Kept): SettleResponse {
  const { head, method, startedAt, requestHead, address, truncated } = recording;
  const body = recording.body();
  return {
    id,
    startedAt,
    status: head!.status,
    method,
    url,
    address,
    truncated,
    requestHead,
    responseHead: head!.lines,
    body,
    digest: createHash('sha256').update(body).digest(),
    validators: head!.validators,
    sent,
  };
}
