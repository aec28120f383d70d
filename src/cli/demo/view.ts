import type { Queryable } from '../../db/index.ts';
import { countRows } from '../../frontier/index.ts';
import { cutToWidth, oneLine } from '../output.ts';

/** What the demo shows while it runs: notable events above, one line of flow below. */
export type DemoView = { say(line: string): void; turn(): Promise<void>; end(): void };

// The time as text: a Date has no microseconds, and the newest document would be told again and again.
type Mark = { documentsAt: string; discoveries: Set<number>; refusals: Set<string> };

const quietLineEveryMs = 5000;

/** Starts the view on standard error; on a terminal the flow line stays at the bottom. */
export function startView(db: Queryable): DemoView {
  const { stderr } = process;
  const live = stderr.isTTY === true;
  const mark: Mark = { documentsAt: '-infinity', discoveries: new Set(), refusals: new Set() };
  let lastCount = 0;
  let lastAt = performance.now();
  let lastLineAt = 0;
  let rate = 0;
  const say = (line: string): void => {
    const width = live ? (stderr.columns ?? 100) - 1 : 200;
    stderr.write(`${live ? '\r\u001b[K' : ''}${cutToWidth(oneLine(line), width)}\n`);
  };
  return {
    say,
    turn: async () => {
      for (const line of await loadEvents(db, mark)) say(line);
      const rows = await countRows(db);
      const documents = (await db.query<{ n: number }>('SELECT count(*)::integer AS n FROM documents'))
        .rows[0]!.n;
      const now = performance.now();
      const settled = rows.submitted - rows.pending;
      rate = 0.6 * rate + 0.4 * ((settled - lastCount) / Math.max(0.2, (now - lastAt) / 1000));
      lastCount = settled;
      lastAt = now;
      const line = flowLine(rows, documents, rate);
      if (live) stderr.write(`\r\u001b[K${cutToWidth(line, (stderr.columns ?? 100) - 1)}`);
      else if (now - lastLineAt > quietLineEveryMs) {
        lastLineAt = now;
        say(line);
      }
    },
    end: () => {
      if (live) stderr.write('\n');
    },
  };
}

function flowLine(rows: Awaited<ReturnType<typeof countRows>>, documents: number, rate: number): string {
  const waiting = Math.max(0, rows.pending - rows.inFlight);
  const exits = [
    `${rows.duplicate} duplicate`,
    `${rows.redirected} redirected`,
    `${rows.failed} to retry`,
    `${rows.dead} dead`,
    ...(rows.needs_render > 0 ? [`${rows.needs_render} need rendering`] : []),
  ];
  return `${rows.submitted} discovered → ${waiting} pending → ${rows.inFlight} fetching → ${rows.fetched} fetched (${rate.toFixed(1)}/s) → ${documents} documents · ${exits.join(' · ')}`;
}

async function loadEvents(db: Queryable, mark: Mark): Promise<string[]> {
  const time = new Date().toTimeString().slice(0, 8);
  const lines: string[] = [];
  const found = await db.query<{
    id: number;
    state: string;
    name: string;
    tried: number;
    channels: string[] | null;
  }>(
    `SELECT d.id, d.state, s.name, jsonb_array_length(d.candidates) AS tried,
            (SELECT array_agg(c.kind || ' ' || c.url ORDER BY c.id) FROM channels c WHERE c.source_id = s.id) AS channels
       FROM discoveries d JOIN sources s ON s.id = d.source_id WHERE d.finished_at IS NOT NULL AND d.id <> ALL ($1) ORDER BY d.finished_at LIMIT 100`,
    [[...mark.discoveries]],
  );
  for (const one of found.rows) {
    mark.discoveries.add(one.id);
    lines.push(
      `${time}  found    ${one.name}: ${one.channels?.join(', ') ?? `no feed after ${one.tried} addresses, following links`}`,
    );
  }
  const refused = await db.query<{ name: string; status: number; path: string }>(
    `SELECT DISTINCT ON (d.name, l.status) d.name, l.status, l.url AS path
       FROM crawl_log l JOIN domains d ON d.bucket = l.bucket AND d.domain_key = l.domain_key
      WHERE l.at > now() - interval '3 seconds' AND (l.status IN (403, 429) OR l.status >= 500) ORDER BY d.name, l.status`,
  );
  for (const one of refused.rows) {
    const key = `${one.name} ${one.status}`;
    if (mark.refusals.has(key)) continue;
    mark.refusals.add(key);
    const meaning =
      one.status === 429
        ? 'asks us to slow down; the whole domain waits'
        : one.status === 403
          ? 'refuses a page; it is tried again later'
          : 'has trouble; the page is tried again later';
    lines.push(`${time}  ${one.status}      ${one.name} ${meaning}`);
  }
  const newest = await db.query<{
    title: string | null;
    url: string;
    language: string | null;
    at: string;
    n: number;
  }>(
    `SELECT title, url, language, crawled_at::text AS at, count(*) OVER ()::integer AS n FROM documents WHERE crawled_at > $1::timestamptz ORDER BY crawled_at DESC LIMIT 1`,
    [mark.documentsAt],
  );
  const document = newest.rows[0];
  if (document !== undefined) {
    mark.documentsAt = document.at;
    const more = document.n > 1 ? ` (and ${document.n - 1} more)` : '';
    lines.push(`${time}  article  [${document.language ?? '?'}] ${document.title ?? document.url}${more}`);
  }
  return lines;
}
