import { reactive, watch } from 'vue';
import { session } from './session.ts';

/** What the engine did lately, as the stream tells it. */
export type Activity = { lately: Record<string, number>; domainsDue: number };
/** A process and its loops. */
export type LiveWorker = {
  id: string;
  role: string;
  host: string;
  pid: number;
  isAlive: boolean;
  loops: { name: string; isHealthy: boolean }[];
};

/** Where the stream of events stands, and what it told last. */
export const live = reactive({
  state: 'connecting' as 'connecting' | 'live' | 'paused' | 'away',
  /** Grows at most once a second, whenever something happened: who shows something asks again. */
  tick: 0,
  activity: null as Activity | null,
  workers: [] as LiveWorker[],
});

const tickMs = 1000;
const againMs = 3000;

let source: EventSource | null = null;
let lastId = '';
let isPaused = false;
let isPending = false;
let lastTickAt = 0;
let retry: ReturnType<typeof setTimeout> | undefined;

function note(): void {
  if (isPending) return;
  isPending = true;
  setTimeout(
    () => {
      isPending = false;
      lastTickAt = Date.now();
      live.tick += 1;
    },
    Math.max(0, lastTickAt + tickMs - Date.now()),
  );
}

function open(): void {
  clearTimeout(retry);
  const after = lastId === '' ? '' : `?after=${encodeURIComponent(lastId)}`;
  const opened = new EventSource(`/api/v1/events${after}`);
  source = opened;
  live.state = 'connecting';
  const hear = (name: string, take: (data: unknown) => void): void =>
    opened.addEventListener(name, (event) => {
      if (event.lastEventId !== '') lastId = event.lastEventId;
      take(JSON.parse((event as MessageEvent<string>).data));
      note();
    });
  opened.addEventListener('open', () => {
    live.state = 'live';
    note();
  });
  hear('activity', (data) => {
    live.activity = data as Activity;
  });
  hear('workers', (data) => {
    live.workers = (data as { items: LiveWorker[] }).items;
  });
  hear('audit', () => undefined);
  hear('domain', () => undefined);
  hear('job', () => undefined);
  hear('progress', () => undefined);
  opened.addEventListener('error', () => {
    live.state = 'away';
    if (opened.readyState !== EventSource.CLOSED) return;
    // Refused: maybe the place is of a database that was restored since. From now on, then.
    lastId = '';
    retry = setTimeout(follow, againMs);
  });
}

function close(): void {
  clearTimeout(retry);
  source?.close();
  source = null;
}

/** Opens or closes the stream as things stand: nobody watches a hidden tab. */
function follow(): void {
  close();
  if (isPaused) live.state = 'paused';
  else if (session.state === 'in' && !document.hidden) open();
}

/** Stops what is shown where it is, or goes on. */
export function setPaused(paused: boolean): void {
  isPaused = paused;
  follow();
}

/** Follows events for as long as somebody is signed in and looks. */
export function startLive(): void {
  document.addEventListener('visibilitychange', follow);
  watch(() => session.state, follow, { immediate: true });
}
