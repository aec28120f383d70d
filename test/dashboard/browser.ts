import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const root = join(import.meta.dirname, '..', '..');
const cache = join(root, 'node_modules', '.cache');
const home = join(cache, 'outrider-chromium');

let shared: Promise<Browser> | undefined;

/** The browser of this worker, for all its files: each page has a profile of its own. It ends with the worker. */
export function shareBrowser(): Promise<Browser> {
  shared ??= launchBrowser();
  return shared;
}

/**
 * A real Chromium from an npm package, unpacked once beside the other packages: nothing is installed on the machine. The
 * package would unpack into the temporary folder, where another user's copy may lie that cannot be run.
 */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = browserPath();
  const libraries = join(home, 'al2023', 'lib');
  // The package brings the few libraries of NSS for machines that have none.
  const isWhole = spawnSync(executablePath, ['--version']).status === 0;
  return chromium.launch({
    executablePath,
    headless: true,
    args: ['--no-sandbox', '--no-zygote', '--headless=shell', '--disable-gpu', '--font-render-hinting=none'],
    ...(isWhole ? {} : { env: { ...process.env, LD_LIBRARY_PATH: libraries } as Record<string, string> }),
  });
}

/** Where that browser lies. */
export const browserPath = (): string => process.env.OUTRIDER_TEST_CHROMIUM ?? unpack();

function unpack(): string {
  const path = join(home, 'chromium');
  if (existsSync(path)) return path;
  mkdirSync(cache, { recursive: true });
  const fresh = mkdtempSync(join(cache, 'chromium-'));
  // In a process of its own: the package looks at the environment when it is loaded.
  const script = `import('@sparticuz/chromium').then(({ default: chromium }) => chromium.executablePath())`;
  const result = spawnSync(process.execPath, ['--eval', script], {
    cwd: root,
    env: { ...process.env, TMPDIR: fresh, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs20.x' },
    encoding: 'utf8',
  });
  if (result.status !== 0) throw new Error(`Chromium could not be unpacked: ${result.stderr}`);
  try {
    renameSync(fresh, home);
  } catch (error) {
    // Somebody else was faster.
    if (!existsSync(path)) throw error;
    rmSync(fresh, { recursive: true });
  }
  return path;
}
