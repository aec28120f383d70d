import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
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

/** Finds warcio, or installs it from PyPI into a folder of its own outside of the repository. */
export async function findWarcio(): Promise<Warcio | { missing: string }> {
  const home = join(tmpdir(), `outrider-warcio-${version}`);
  const python = (folder: string): string => join(folder, 'bin', 'python');
  try {
    if (!existsSync(python(home))) {
      const fresh = mkdtempSync(`${home}-`);
      await run('python3', ['-m', 'venv', fresh], { timeout: 60_000 });
      const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `warcio==${version}`];
      await run(python(fresh), pip, { timeout: 120_000 });
      try {
        renameSync(fresh, home);
      } catch {
        // Another test was faster, and its copy is as good.
        rmSync(fresh, { recursive: true, force: true });
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
