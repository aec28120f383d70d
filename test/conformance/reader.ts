// Reads pages for reader-process.ts, in a process of its own: with our extractor, or with Readability on linkedom.
import { extractPage } from '../../src/extract/index.ts';
import { parsePage } from '../../src/html/index.ts';
import { readWithReadability } from './readability.ts';

/** How a page can be read, by name. */
const READERS = {
  ours: (html: string, url: string) => extractPage(parsePage(html, { url })),
  readability: (html: string) => readWithReadability(html),
};

/** The names of the readers, and what each makes of a page. */
export type ReaderName = keyof typeof READERS;
export type Read<Name extends ReaderName> = { values: ReturnType<(typeof READERS)[Name]>[]; cpuMs: number };
/** A page to read. */
export type Asked = { html: string; url: string };

const read = READERS[process.argv[2] as ReaderName];

process.on('message', (pages: Asked[]) => {
  const before = process.cpuUsage();
  const values = pages.map(({ html, url }) => read(html, url));
  const { user, system } = process.cpuUsage(before);
  process.send!({ values, cpuMs: (user + system) / 1_000 });
});
