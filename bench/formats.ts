/** Formats: feed parsing against htmlparser2, a 500 MB sitemap as a stream, and hostile documents. */
import { execFile } from 'node:child_process';
import { loadavg } from 'node:os';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parseFeed as parseWithHtmlparser2 } from 'htmlparser2';
import { parseFeed } from '../src/feed-formats/index.ts';
import { makeFeed } from './formats-documents.ts';
import { runHostile } from './formats-hostile.ts';
import { readOptions } from './options.ts';

const FEED_BYTES = 1_600_000;
const ROUNDS = 25;

/** A feed, a sitemap and hostile documents: time and memory of reading them. */
export async function run(args: string[]): Promise<object> {
  const { mb: megabytes } = readOptions(args, { mb: ['size of the sitemap', 500] });
  const load = loadavg()[0]!;
  console.error('formats: hostile documents, each read once');
  const hostile = await runHostile();
  console.error(`formats: a feed of ${FEED_BYTES} bytes, ${ROUNDS} rounds, both readers in turn`);
  const feed = benchFeed();
  console.error(`formats: a sitemap of ${megabytes} MB in a process of its own`);
  const sitemap = await benchSitemap(megabytes);
  return { load: round(load), feed, sitemap, hostile };
}

function benchFeed(): object {
  const bytes = makeFeed(FEED_BYTES);
  const oursMs: number[] = [];
  const theirsMs: number[] = [];
  let entries = 0;
  let theirEntries = 0;
  for (let index = 0; index < ROUNDS; index += 1) {
    const start = performance.now();
    const result = parseFeed(bytes);
    const between = performance.now();
    // They take text: decoding is part of reading a feed.
    const theirs = parseWithHtmlparser2(bytes.toString('utf8'));
    const end = performance.now();
    oursMs.push(between - start);
    theirsMs.push(end - between);
    entries = result.outcome === 'feed' ? result.feed.entries.length : 0;
    theirEntries = theirs?.items.length ?? 0;
  }
  const ours = median(oursMs);
  const theirs = median(theirsMs);
  return {
    bytes: bytes.length,
    entries,
    theirEntries,
    oursMs: round(ours),
    htmlparser2Ms: round(theirs),
    ratio: round(ours / theirs),
  };
}

/** In its own process, so that the peak of its memory is the reader's and nobody else's. */
async function benchSitemap(megabytes: number): Promise<object> {
  const script = fileURLToPath(import.meta.url).replace(/formats(\.[jt]s)$/, 'formats-sitemap$1');
  const { stdout } = await promisify(execFile)(process.execPath, [script, String(megabytes)]);
  return JSON.parse(stdout) as object;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
