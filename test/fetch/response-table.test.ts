import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Outrider } from '../process/outrider.ts';
import type { FaultSpec } from '../web/index.ts';
import { checkCrawl, checkEnd } from './end.ts';
import { Lab, type LabKind, plain, type RowState } from './lab.ts';
import { type Line, lines } from './response-lines.ts';

const delayMs = 100;
const kindOf = (line: Line): LabKind => line.kind ?? 'article';

/** Somebody waits for these: the first answer is the answer. */
const probes: { name: string; at: LabKind; faults: FaultSpec[]; result: object }[] = [
  { name: 'probe-page', at: 'listing', faults: [], result: { kind: 'page' } },
  { name: 'probe-feed', at: 'feed', faults: [], result: { kind: 'feed', entries: 6 } },
  { name: 'probe-sitemap', at: 'sitemap', faults: [], result: { kind: 'sitemap' } },
  {
    name: 'probe-404',
    at: 'feed',
    faults: [{ name: 'status', on: ['feed'], options: { status: 404 } }],
    result: { kind: 'failed', status: 404 },
  },
  {
    name: 'probe-bomb',
    at: 'feed',
    faults: [{ name: 'gzip-bomb', on: ['feed'] }],
    result: { kind: 'failed', reason: 'decompress_bomb' },
  },
  {
    name: 'probe-cut',
    at: 'listing',
    faults: [{ name: 'truncated', on: ['listing'] }],
    result: { kind: 'failed', reason: 'bad_response' },
  },
];

let lab: Lab;
let fetcher: Outrider;
/** Rows of the lines after each round. */
const seen = new Map<string, RowState[]>();

async function look(round: number): Promise<string[]> {
  const again: string[] = [];
  for (const line of lines) {
    if (line.after[round] === undefined) continue;
    const row = await lab.row(lab.address(line.name, kindOf(line)), kindOf(line));
    if (row !== undefined) seen.set(line.name, [...(seen.get(line.name) ?? []), row]);
    if (line.after.length > round + 1) again.push(`${line.name}.test`);
  }
  return again;
}

beforeAll(async () => {
  lab = await Lab.open({
    publishers: [...lines, ...probes].map((line) => plain(line.name, line.faults)),
    env: {
      OUTRIDER_FETCH_TIMEOUT_MS: '8000',
      OUTRIDER_FETCH_HEADERS_TIMEOUT_MS: '6000',
      OUTRIDER_FETCH_DEFAULT_DELAY_MS: String(delayMs),
    },
  });
  await lab.makeBombs();
  for (const line of lines) await lab.follow(line.name, kindOf(line));
  for (const { name, at } of probes) await lab.ask(lab.address(name, at), { kind: 'probe', probeId: name });
  fetcher = lab.start();
  await lab.idle();
  for (let round = 0; round < 3; round += 1) {
    const again = await look(round);
    if (again.length === 0) break;
    await lab.hurry(again);
    await lab.idle();
  }
}, 180_000);
afterAll(() => lab?.close());

describe('the response table', () => {
  test.each(lines)('$name', async (line) => {
    const rows = seen.get(line.name) ?? [];
    expect(rows.length).toBe(line.after.length);
    for (const [round, expected] of line.after.entries()) {
      const { due, ...fields } = expected;
      const row = rows[round]!;
      expect(row, `after round ${round + 1}`).toMatchObject(fields);
      if (due === undefined) continue;
      if (due === null) expect(row.dueS).toBeNull();
      else {
        expect(row.dueS).toBeGreaterThanOrEqual(due[0]);
        expect(row.dueS).toBeLessThanOrEqual(due[1]);
      }
    }
    const logged = (await lab.logged(line.name)).filter(({ kind }) => kind !== 'robots');
    expect(logged.map(({ outcome }) => outcome)).toEqual(line.outcomes);
    if (line.domain !== undefined) expect(await lab.domain(line.name)).toMatchObject(line.domain);
  });

  test('the body of an unsupported type is not downloaded', () => {
    const [request] = lab.requests('pdf').filter(({ path }) => path !== '/robots.txt');
    // What socket buffers hold has left the server before anybody could say stop; half a gigabyte was on offer.
    expect(request?.bytes).toBeLessThan(20_000_000);
    expect(request?.aborted).toBe(true);
  });
});

describe('probes', () => {
  test.each(probes)('$name', async ({ name, result }) => {
    const answers = await lab.database.pool.query<{ result: object; status: string }>(
      `SELECT p.result, f.status FROM probe_results p JOIN domains d USING (bucket, domain_key)
         JOIN url_frontier f USING (bucket, domain_key, url_hash) WHERE d.name = $1`,
      [`${name}.test`],
    );
    expect(answers.rows).toMatchObject([{ result, status: 'fetched' }]);
    expect(await lab.domain(name)).toMatchObject({ documents: 0 });
    expect(lab.requests(name)).toHaveLength(2);
  });
});

describe('in the end', () => {
  test('sums and logs agree, nobody was hurried, and the fetcher ends in order', async () => {
    await checkCrawl(lab, delayMs);
    await checkEnd(lab, fetcher);
  });
});
