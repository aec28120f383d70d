import { computed, onScopeDispose, type Ref, ref, shallowRef, watch } from 'vue';
import { addressOf, ask, type Input, type Item } from '../../api/client.ts';
import { live, setPaused } from '../../api/live.ts';
import { type Problem, problemOf } from '../../api/problem.ts';

/** A line of a log. */
export type LogLine = Item<'listLogLines'>;
/** Which lines are looked for. */
export type LogFilter = { category: string; level: string; q: string };
type Query = NonNullable<Input<'listLogLines'>['query']>;

/** So many lines are shown at most: a browser should not have to lay out more. */
export const mostLines = 2000;
const portion = 500;
// A filter that finds little looks at 20,000 lines a page, and a log has 200,000 at most.
const mostPages = 10;
const flushMs = 100;
const againMs = 2000;

/**
 * The log of a run: its last lines, and those that come. Each line has a number, so that whatever happens to the
 * connection none is lost and none is shown twice: the stream goes on after the last number that was seen.
 */
export function useLog(id: string, filter: () => LogFilter, onEnd: () => void) {
  const lines = shallowRef<readonly LogLine[]>([]);
  const problem = shallowRef<Problem | null>(null);
  const isLoading = ref(true);
  const isCut = ref(false);
  const isStopped = ref(false);
  const status = ref('');
  /** The last line that was looked at, shown or not. */
  const lastId = ref(0);
  const earlier = shallowRef<Query | null>(null);
  /** Whether new lines push out old ones; whoever reads further up keeps what he reads. */
  const isFollowing = ref(true);
  const isPaused = computed(() => isStopped.value || live.state === 'paused');

  let source: EventSource | null = null;
  let waiting: LogLine[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let current: AbortController | null = null;

  const named = (): Query => {
    const { category, level, q } = filter();
    return {
      ...(category === '' ? {} : { category: category as LogLine['category'] }),
      ...(level === '' ? {} : { level: level as LogLine['level'] }),
      ...(q === '' ? {} : { q }),
    };
  };
  const fits = ({ message }: LogLine): boolean => message.toLowerCase().includes(filter().q.toLowerCase());

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.length === 0) return;
    const all = [...lines.value, ...waiting];
    waiting = [];
    if (all.length > mostLines && !isFollowing.value) {
      // He reads further up: the rest comes when he goes on.
      const kept = all.slice(0, mostLines);
      lastId.value = kept.at(-1)!.id;
      status.value = '';
      isStopped.value = true;
      close();
      lines.value = kept;
      return;
    }
    if (all.length > mostLines) {
      const kept = all.slice(-mostLines);
      earlier.value = { ...named(), order: 'newest', before: kept[0]!.id };
      lines.value = kept;
    } else lines.value = all;
  }

  function take(line: LogLine): void {
    // A server that begins too early must not double a line.
    if (line.id <= lastId.value) return;
    lastId.value = line.id;
    if (!fits(line)) return;
    waiting.push(line);
    // Much at once is shown in one go; more than fits is never kept.
    if (waiting.length >= portion) flush();
    else timer ??= setTimeout(flush, flushMs);
  }

  function close(): void {
    clearTimeout(retry);
    source?.close();
    source = null;
  }

  function open(): void {
    close();
    if (isPaused.value || status.value !== '' || document.hidden) return;
    const { q: _q, ...query } = named();
    const opened = new EventSource(
      addressOf('streamLog', { path: { id }, query: { ...query, after: lastId.value } }),
    );
    source = opened;
    opened.addEventListener('open', () => {
      isCut.value = false;
    });
    opened.addEventListener('line', (event) => take(JSON.parse((event as MessageEvent<string>).data)));
    opened.addEventListener('end', (event) => {
      status.value = (JSON.parse((event as MessageEvent<string>).data) as { status: string }).status;
      close();
      flush();
      onEnd();
    });
    opened.addEventListener('error', () => {
      isCut.value = true;
      // A browser comes again by itself with the last number, unless it was refused.
      if (opened.readyState === EventSource.CLOSED && source === opened) retry = setTimeout(open, againMs);
    });
  }

  /** Lines before those that are shown, up to one portion; answers where those before them are. */
  async function older(
    query: Query,
    signal: AbortSignal,
  ): Promise<{ found: LogLine[]; next: Query | null; count: number }> {
    let asked: Query = { ...query, order: 'newest', limit: portion };
    let count = 0;
    for (let page = 0; ; page += 1) {
      const answer = await ask('listLogLines', { path: { id }, query: asked }, { signal });
      if (page === 0) count = answer.lines;
      const { before: _before, ...rest } = asked;
      const next = answer.cursor === null ? null : { ...rest, cursor: answer.cursor };
      if (answer.items.length > 0 || next === null || page + 1 >= mostPages)
        return { found: answer.items.toReversed(), next, count };
      asked = next;
    }
  }

  async function attempt(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    current?.abort();
    const mine = new AbortController();
    current = mine;
    try {
      await work(mine.signal);
      if (current === mine) problem.value = null;
    } catch (error) {
      if (current === mine && !mine.signal.aborted) problem.value = problemOf(error);
    } finally {
      if (current === mine) isLoading.value = false;
    }
  }

  /** Begins at the end of the log, as it is filtered now. */
  const load = (): Promise<void> => {
    close();
    waiting = [];
    isLoading.value = lines.value.length === 0;
    return attempt(async (signal) => {
      const { found, next, count } = await older(named(), signal);
      if (signal.aborted) return;
      // Whatever came meanwhile comes again after the last line of this answer.
      waiting = [];
      lines.value = found;
      earlier.value = next;
      lastId.value = count;
      status.value = '';
      isFollowing.value = true;
      open();
    });
  };

  const loadEarlier = (): Promise<void> =>
    attempt(async (signal) => {
      if (earlier.value === null) return;
      const { found, next } = await older(earlier.value, signal);
      if (signal.aborted) return;
      flush();
      isFollowing.value = false;
      earlier.value = next;
      const all = [...found, ...lines.value];
      lines.value = all.slice(0, mostLines);
      // What no longer fits below is read again when somebody goes on to the end.
      if (all.length <= mostLines) return;
      isStopped.value = true;
      lastId.value = lines.value.at(-1)!.id;
      status.value = '';
      close();
    });

  watch(() => JSON.stringify(named()), load, { immediate: true });
  watch(isPaused, (paused) => (paused ? close() : open()));
  document.addEventListener('visibilitychange', open);
  onScopeDispose(() => {
    document.removeEventListener('visibilitychange', open);
    current?.abort();
    current = null;
    clearTimeout(timer);
    close();
  });
  return {
    lines,
    problem,
    isLoading,
    isCut,
    isPaused,
    isFollowing,
    status: status as Readonly<Ref<string>>,
    lastId: lastId as Readonly<Ref<number>>,
    hasEarlier: computed(() => earlier.value !== null),
    load,
    loadEarlier,
    pause: (): void => {
      flush();
      isStopped.value = true;
    },
    goOn: (): void => {
      // Full of older lines: what lies between them and the end would be thrown away again.
      const isFull = lines.value.length >= mostLines && !isFollowing.value;
      isStopped.value = false;
      if (isFull) void load();
      if (live.state === 'paused') setPaused(false);
    },
  };
}
