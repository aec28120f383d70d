import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createNdjsonSink } from '../../src/sinks/files/index.ts';
import type { Received, SinkWorld } from './world.ts';

/** A folder of NDJSON files. */
export function startFileWorld(mostBytes = 4000): SinkWorld & { dir: string } {
  const root = mkdtempSync(join(tmpdir(), 'outrider-files-'));
  const dir = join(root, 'documents');
  const make = () =>
    createNdjsonSink({ name: 'files', dir, mostBytes, mostAgeMs: 3_600_000, now: () => Date.now() });
  return {
    dir,
    sink: make(),
    again: make,
    received: async () => {
      const all = new Map<string, Received>();
      const seen = new Map<string, number>();
      for (const name of readdirSync(dir)
        .filter((one) => one.startsWith('documents-'))
        .sort()) {
        const lines = readFileSync(join(dir, name), 'utf8').split('\n');
        if (lines.pop() !== '') throw new Error(`${name} ends in the middle of a line`);
        for (const line of lines) {
          const { id, version, text } = JSON.parse(line) as { id: string; version: number; text: string };
          const key = `${id} ${version}`;
          seen.set(key, (seen.get(key) ?? 0) + 1);
          all.set(id, { id, text, times: seen.get(key)! });
        }
      }
      return all;
    },
    // Where the folder was there is a file: what an operator's mistake or a lost mount looks like, for root too.
    break: async () => {
      renameSync(dir, `${dir}.away`);
      writeFileSync(dir, 'not a folder');
    },
    mend: async () => {
      rmSync(dir);
      renameSync(`${dir}.away`, dir);
      chmodSync(dir, 0o755);
    },
    close: async () => rmSync(root, { recursive: true, force: true }),
  };
}
