/** Benchmarks by name; each returns the JSON object that its last line prints. */
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
const load = benchmarks[name];
if (load === undefined) {
  console.error(`usage: npm run bench -- <${Object.keys(benchmarks).join('|')}> [--json]`);
  process.exit(2);
}
const result = await (await load()).run(args.filter((arg) => arg !== '--json'));
console.log(args.includes('--json') ? JSON.stringify(result) : JSON.stringify(result, null, 2));
