import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { faultList } from './fault-list.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const page = join(root, 'docs/reference/faults.md');
/** Tables of cases that a test file runs, each case a test of its name. */
const caseFiles: Readonly<Record<string, string>> = {
  'test/fetch/hostile-lines.ts': 'test/fetch/hostile-web.test.ts',
  'test/sinks/conformance.ts': 'test/sinks/files.test.ts',
};

type Row = { fault: string; answer: string; tests: { name: string; path: string }[] };

function readSections(): Map<string, Row[]> {
  const sections = new Map<string, Row[]>();
  let rows: Row[] = [];
  for (const line of readFileSync(page, 'utf8').split('\n')) {
    if (line.startsWith('## ')) {
      rows = [];
      sections.set(line.slice(3), rows);
    }
    const cells = /^\| (.+?) \| (.+?) \| (.+) \|$/.exec(line);
    if (cells === null || cells[1] === 'fault') continue;
    const tests = [...cells[3]!.matchAll(/\[(.+?)\]\(([^()\s]+)\)/g)].map(([, name, path]) => ({
      name: name!,
      path: relative(root, join(dirname(page), path!)),
    }));
    rows.push({ fault: cells[1]!, answer: cells[2]!, tests });
  }
  return sections;
}

const sections = readSections();
const rows = [...sections.values()].flat();

/** Whether a file has a string of this text, in whatever quotes. */
function says(path: string, name: string): boolean {
  const text = readFileSync(join(root, path), 'utf8');
  return [`'${name}'`, `"${name}"`, `\`${name}\``].some((quoted) => text.includes(quoted));
}

describe('the page of faults', () => {
  test('has a row for everything on the list, and the list has no section of its own', () => {
    expect([...sections.keys()]).toEqual(Object.keys(faultList));
    const missing = Object.entries(faultList).flatMap(([section, faults]) =>
      faults.filter((fault) => !sections.get(section)!.some((row) => row.fault === fault)),
    );
    expect(missing).toEqual([]);
  });

  test('says in each row what is done, and names a test', () => {
    expect(rows.length).toBeGreaterThan(90);
    expect(rows.filter(({ answer, tests }) => answer.length < 4 || tests.length === 0)).toEqual([]);
    expect(new Set(rows.map(({ fault }) => fault)).size).toBe(rows.length);
  });

  test('names only tests that are there', () => {
    const wrong = rows.flatMap(({ tests }) =>
      tests.flatMap(({ name, path }) => {
        if (!existsSync(join(root, path))) return [`${path} is not there`];
        const isRun = path.endsWith('.test.ts') || caseFiles[path] !== undefined;
        if (!isRun) return [`${path} holds no tests`];
        return says(path, name) ? [] : [`${path} has no test "${name}"`];
      }),
    );
    expect(wrong).toEqual([]);
  });

  test('relies on tables of cases that are still run', () => {
    for (const [cases, runner] of Object.entries(caseFiles)) {
      const file = cases.split('/').at(-1)!;
      expect(readFileSync(join(root, runner), 'utf8')).toContain(`/${file}'`);
    }
  });
});
