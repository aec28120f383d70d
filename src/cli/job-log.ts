import type { LogLine } from '../jobs/index.ts';
import type { Api, Json, Query } from './api.ts';
import type { ShownDetail } from './job-words.ts';
import { oneLine } from './output.ts';
import { paint } from './style.ts';

type ShownLine = Json<LogLine>;

/** Which lines of a log are shown. */
export type LogWish = { category?: string; level?: string; q?: string; limit: number };

/** A line of a log as people read it. */
export function logLineText({ at, level, category, message }: ShownLine): string {
  const text = `${at}  ${level.padEnd(5)} ${category.padEnd(10)} ${oneLine(message)}`;
  if (level === 'info') return text;
  return paint(level === 'error' ? 'red' : 'yellow', text);
}

/** The newest lines of a log, in their order. */
export async function loadLog(api: Api, execution: string, wish: LogWish): Promise<ShownLine[]> {
  const { limit, ...filter } = wish;
  const lines: ShownLine[] = [];
  let cursor: string | null = null;
  do {
    const page: { items: ShownLine[]; cursor: string | null } = await api.get(
      `/api/v1/executions/${execution}/logs`,
      {
        ...filter,
        order: 'newest',
        limit: Math.min(limit - lines.length, 1000),
        cursor: cursor ?? undefined,
      },
    );
    lines.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== null && lines.length < limit);
  return lines.toReversed();
}

/**
 * Shows lines as they come, until the run has ended; answers how. A stream that breaks off is taken up again behind the
 * last line that was shown, so that none is missed and none comes twice.
 */
export async function followLog(
  api: Api,
  execution: string,
  options: { after: number; filter: Query; show: (line: ShownLine) => void },
): Promise<string> {
  for (let { after } = options; ; ) {
    const { pieces } = await api.download(`/api/v1/executions/${execution}/logs/stream`, {
      ...options.filter,
      after,
    });
    for await (const { id, name, data } of readEvents(pieces)) {
      after = Math.max(after, id);
      if (name === 'end') return (data as { status: string }).status;
      if (name === 'line') options.show(data as ShownLine);
    }
    const { status, logLines } = await api.get<ShownDetail>(`/api/v1/executions/${execution}`);
    if (status !== 'running' && logLines <= after) return status;
  }
}

type ServerEvent = { id: number; name: string; data: unknown };

/** Reads server-sent events out of bytes. */
export async function* readEvents(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of pieces) {
    rest += decoder.decode(piece, { stream: true });
    const blocks = rest.split('\n\n');
    rest = blocks.pop()!;
    for (const block of blocks) {
      const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
      const data = field('data');
      if (data !== undefined)
        yield { id: Number(field('id') ?? 0), name: field('event') ?? '', data: JSON.parse(data) };
    }
  }
}
