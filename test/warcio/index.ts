import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..').replace(/[\\/]dist$/, '');
const version = '1.8.1';

/** A record as warcio reads it. */
export type WarcioRecord = {
  type: string;
  version: string;
  fields: Record<string, string>;
  statusLine: string | null;
  http: [string, string][];
  bytes: number;
  sha256: string;
  /** null where there was nothing to check. */
  digestPassed: boolean | null;
  problems: string[];
};

/** warcio, the reader that others use; or why there is none here. */
export type Warcio = {
  read(files: readonly string[]): Promise<WarcioRecord[]>;
  /** `warcio check`: rejects with what it says where a digest is wrong. */
  check(files: readonly string[]): Promise<void>;
};

/** Finds warcio, or installs it from PyPI, once beside the other packages. */
export async function findWarcio(): Promise<Warcio | { missing: string }> {
  const cache = join(root, 'node_modules', '.cache');
  const home = join(cache, `outrider-warcio-${version}`);
  const python = (folder: string): string => join(folder, 'bin', 'python');
  try {
    if (!existsSync(python(home))) {
      mkdirSync(cache, { recursive: true });
      const fresh = mkdtempSync(`${home}-`);
      const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `warcio==${version}`];
      try {
        await run('python3', ['-m', 'venv', fresh], { timeout: 60_000 });
        await run(python(fresh), pip, { timeout: 120_000 });
        renameSync(fresh, home);
      } catch (error) {
        rmSync(fresh, { recursive: true, force: true });
        // Another test may have been faster, and its copy is as good.
        if (!existsSync(python(home))) throw error;
      }
    }
    await run(python(home), ['-c', 'import warcio'], { timeout: 30_000 });
  } catch (error) {
    const line = String((error as Error).message).split('\n')[0];
    return { missing: `no warcio here (Python 3 with venv and PyPI are needed): ${line}` };
  }
  const ask = (args: readonly string[]) =>
    run(python(home), [...args], { maxBuffer: 1024 * 1024 * 1024, timeout: 120_000 });
  return {
    read: async (files) => {
      const { stdout } = await ask([join(root, 'test', 'warcio', 'read.py'), ...files]);
      return stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as WarcioRecord);
    },
    check: async (files) => {
      await ask(['-m', 'warcio.cli', 'check', ...files]);
    },
  };
}
