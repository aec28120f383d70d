import { execFile } from 'node:child_process';
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { messageOf } from '../errors/index.ts';
import { howToGiveBrowser } from '../frontier/index.ts';

/** A browser that can be started. */
export type FoundBrowser = { path: string; version: string; env: Readonly<Record<string, string>> };

/** A browser, or one sentence on why there is none and what to do. */
export type BrowserSearch = { found: FoundBrowser } | { found: null; why: string };

const packageName = '@sparticuz/chromium';

/** Finds the browser: the one that is named, or the one that an npm package carries. Asks it for its version. */
export async function findBrowser(path: string | null): Promise<BrowserSearch> {
  if (path !== null) {
    try {
      accessSync(path, constants.X_OK);
    } catch (error) {
      return { found: null, why: `render.browser_path cannot be run: ${messageOf(error)}` };
    }
    return askVersion(path);
  }
  const require = createRequire(import.meta.url);
  let home: string;
  try {
    home = join(require.resolve(packageName), '..', '..', '..');
  } catch (error) {
    if ((error as { code?: string }).code !== 'MODULE_NOT_FOUND') throw error;
    return { found: null, why: `No browser is there. ${howToGiveBrowser}` };
  }
  const unpacked = await unpack(home, require(join(home, 'package.json')) as { version: string });
  if ('why' in unpacked) return { found: null, why: unpacked.why };
  return askVersion(join(unpacked.dir, 'chromium'));
}

type RunEnd = { isGood: boolean; stdout: string; stderr: string };

/** Runs a program to its end; what it says is what counts, so a failure is an answer. */
const run = (file: string, args: string[], options: object): Promise<RunEnd> =>
  new Promise((resolve) => {
    execFile(file, args, { encoding: 'utf8', ...options }, (error, stdout, stderr) =>
      resolve({
        isGood: error === null,
        stdout: String(stdout),
        stderr: String(stderr) || (error?.message ?? ''),
      }),
    );
  });

async function askVersion(path: string): Promise<BrowserSearch> {
  // The package brings the few libraries of NSS for machines that have none.
  const libraries = join(dirname(path), 'al2023', 'lib');
  const environments = existsSync(libraries) ? [{}, { LD_LIBRARY_PATH: libraries }] : [{}];
  let said = '';
  for (const env of environments) {
    const { isGood, stdout, stderr } = await run(path, ['--version', '--no-sandbox'], {
      env: { ...process.env, ...env },
      timeout: 20_000,
    });
    const version = /\d+(?:\.\d+){1,3}/.exec(stdout)?.[0];
    if (isGood && version !== undefined) return { found: { path, version, env } };
    said = stderr.trim().split('\n')[0]?.slice(0, 200) ?? '';
  }
  return {
    found: null,
    why: `The browser ${path} does not start: ${said || 'it does not tell its version'}`,
  };
}

/**
 * Unpacks the package's browser once per version into a folder of ours. The package itself would unpack into the
 * temporary folder under a name that anybody may have taken.
 */
async function unpack(
  home: string,
  { version }: { version: string },
): Promise<{ dir: string } | { why: string }> {
  const uid = process.geteuid?.() ?? 0;
  const base = join(tmpdir(), `outrider-browser-${uid}`);
  const dir = join(base, version);
  try {
    mkdirSync(base, { recursive: true, mode: 0o755 });
    const stat = lstatSync(base);
    if (!stat.isDirectory() || stat.uid !== uid || (stat.mode & 0o022) !== 0)
      return { why: `The browser cannot be unpacked: ${base} belongs to somebody else.` };
    if (existsSync(join(dir, 'chromium'))) return { dir };
    const fresh = mkdtempSync(join(base, 'new-'));
    // In a process of its own: the package looks at the environment when it is loaded.
    const script = `import(${JSON.stringify(packageName)}).then(({ default: chromium }) => chromium.executablePath())`;
    const { isGood, stderr } = await run(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: home,
      env: { ...process.env, TMPDIR: fresh, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs20.x' },
      timeout: 120_000,
    });
    if (!isGood || !existsSync(join(fresh, 'chromium'))) {
      rmSync(fresh, { recursive: true, force: true });
      return { why: `The browser of ${packageName} cannot be unpacked: ${stderr.trim().slice(-200)}` };
    }
    // Root unpacks, another user runs it.
    await run('chmod', ['-R', 'go+rX', fresh], {});
    try {
      renameSync(fresh, dir);
    } catch (error) {
      rmSync(fresh, { recursive: true, force: true });
      // Somebody else was faster.
      if (!existsSync(join(dir, 'chromium'))) throw error;
    }
    return { dir };
  } catch (error) {
    return { why: `The browser of ${packageName} cannot be unpacked: ${messageOf(error)}` };
  }
}
