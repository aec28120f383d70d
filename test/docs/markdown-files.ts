import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { anchorOf } from './pages/markdown.ts';

/** Where the files of the project are. */
export const root = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** A block of code with the word behind its fence. */
export type Block = { language: string; text: string };

/** A file of words, taken apart as far as the checks need it. */
export type MarkdownFile = {
  /** From the root of the project. */
  path: string;
  blocks: readonly Block[];
  /** Code inside lines. */
  spans: readonly string[];
  /** Targets of links and pictures. */
  links: readonly string[];
  anchors: ReadonlySet<string>;
};

const fence = /^```(\w*)[^\n]*\n([\s\S]*?)^```\s*$/gm;

/** Takes one file apart. */
export function readMarkdown(path: string): MarkdownFile {
  const text = readFileSync(join(root, path), 'utf8');
  const blocks = [...text.matchAll(fence)].map((one) => ({ language: one[1]!, text: one[2]! }));
  const prose = text.replace(fence, '');
  const spans = [...prose.matchAll(/`([^`\n]+)`/g)].map((one) => one[1]!.replaceAll('\\|', '|'));
  const plain = prose.replace(/`[^`\n]+`/g, (one) => one.replace(/[[\]()]/g, ''));
  const links = [...plain.matchAll(/\[(?:[^\][]|\[[^\]]*\]\([^)]*\))*\]\(([^)\s]+)\)/g)].map(
    (one) => one[1]!,
  );
  const anchors = new Set<string>();
  for (const [, heading] of prose.matchAll(/^#{1,6} (.+)$/gm)) {
    const wanted = anchorOf(heading!);
    // A heading that comes again gets a number.
    let anchor = wanted;
    for (let n = 1; anchors.has(anchor); n += 1) anchor = `${wanted}-${n}`;
    anchors.add(anchor);
  }
  return { path, blocks, spans, links, anchors };
}

/** Every file of words: those of docs, those at the root, and those that stand beside what they tell of. */
export function listMarkdown(): MarkdownFile[] {
  const at = (folder: string): string[] =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
      .map((name) => join(folder, name));
  const top = readdirSync(root).filter((name) => name.endsWith('.md'));
  return [...top, ...['docs', 'test', 'examples', 'bench'].flatMap(at)]
    .map((path) => relative('.', path))
    .sort()
    .map(readMarkdown);
}
