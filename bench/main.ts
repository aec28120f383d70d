import { UsageError } from './options.ts';
import { tableOf } from './table.ts';

/** Benchmarks by name; each returns its figures, which --json prints as the last line and a table otherwise. */
const benchmarks: Readonly<Record<string, () => Promise<{ run(args: string[]): Promise<object> }>>> = {
  web: () => import('./web.ts'),
  formats: () => import('./formats.ts'),
  frontier: () => import('./frontier.ts'),
  refresh: () => import('./refresh.ts'),
  crawl: () => import('./crawl.ts'),
  polling: () => import('./polling.ts'),
  websub: () => import('./websub.ts'),
  api: () => import('./api.ts'),
  sinks: () => import('./sinks.ts'),
  copies: () => import('./copies.ts'),
  soak: () => import('./soak.ts'),
};

const [name = '', ...args] = process.argv.slice(2);
const usage = `usage: npm run bench -- <${Object.keys(benchmarks).join('|')}> [options] [--json]`;
const load = Object.hasOwn(benchmarks, name) ? benchmarks[name] : undefined;
if (load === undefined) {
  console.error(usage);
  process.exit(name === '--help' ? 0 : 2);
}
try {
  const result = await (await load()).run(args.filter((arg) => arg !== '--json'));
  console.log(args.includes('--json') ? JSON.stringify(result) : tableOf(result));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(args.includes('--help') ? `${usage}\n${error.message}` : error.message);
  process.exitCode = args.includes('--help') ? 0 : 2;
}
