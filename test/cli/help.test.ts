import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CliHost, type Ended, runOutrider } from '../process/outrider.ts';

let home: string;
let host: CliHost;

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'outrider-cli-'));
  host = new CliHost();
});
afterAll(async () => {
  await host.close();
  // None of these commands has any business with a database.
  expect(existsSync(dataDir())).toBe(false);
  rmSync(home, { recursive: true, force: true });
});

const dataDir = (): string => join(home, 'data');
type Run = (args: string[], env?: Record<string, string>) => Promise<Ended>;
const run: Run = (args, env) => host.run(args, { home, env: { OUTRIDER_DATA_DIR: dataDir(), ...env } });
/** As a process of its own. */
const runAlone: Run = (args, env) =>
  runOutrider(args, { home, env: { OUTRIDER_DATA_DIR: dataDir(), ...env } });

describe('help', () => {
  test.each([[[]], [['--help']], [['-h']], [['help']]])(
    '%j shows every command and ends well',
    async (args) => {
      const { code, stdout, stderr } = await run(args);
      expect(code).toBe(0);
      expect(stderr).toBe('');
      for (const command of [
        'up',
        'demo',
        'run',
        'add',
        'sources',
        'channels',
        'import',
        'export',
        'domain',
        'workers',
        'switch',
        'explain',
        'docs',
        'images',
        'db',
        'migrate',
        'config',
      ])
        expect(stdout).toMatch(new RegExp(`^ {2}${command}\\b`, 'm'));
      expect(stdout).toContain('First steps:');
    },
  );

  test.each([
    ['up', '--fetchers'],
    ['serve', '--port'],
    ['fetch', '--pool'],
    ['schedule', '--help'],
    ['demo', '--seconds'],
    ['run', '--allow-network'],
    ['add', '--name'],
    ['sources', '--help'],
    ['channels', '--help'],
    ['channels add', '--as'],
    ['channels set', '--every'],
    ['import', '--rejects'],
    ['export', '--format'],
    ['domain', 'backfill'],
    ['domain seed', '--dataset'],
    ['domain set', '--budget'],
    ['workers', '--help'],
    ['switch', '[on|off]'],
    ['docs', 'search'],
    ['db', 'export'],
    ['migrate', '--status'],
    ['config', '--dump'],
  ])('%s --help explains itself', async (command, words) => {
    const { code, stdout } = await host.run([...command.split(' '), '--help'], { home });
    expect(code).toBe(0);
    expect(stdout).toContain(`Usage: outrider ${command}`);
    expect(stdout).toContain(words);
    expect(stdout).toContain('--data');
  });

  test('a group shows what its list takes, and a command beside it does not', async () => {
    const words = 'only those with a channel whose polls fail';
    expect((await host.run(['sources', '--help'], { home })).stdout).toContain(words);
    expect((await host.run(['sources', 'set', '--help'], { home })).stdout).not.toContain(words);
  });

  test('--version says the version alone', async () => {
    const { code, stdout } = await runAlone(['--version']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('mistakes end with code 2 and say what to do', () => {
  test.each([
    ['an unknown command', ['serch'], ["unknown command 'serch'", 'outrider --help']],
    ['a command with a letter missing', ['chanels'], ['Did you mean channels?']],
    ['an unknown subcommand', ['docs', 'serach'], ["unknown command 'serach'", 'search']],
    ['an unknown option', ['up', '--prot', '1'], ["unknown option '--prot'", '--port']],
    ['a missing argument', ['add'], ["missing required argument 'url'"]],
    ['a missing option', ['run'], ['--urls']],
    ['a group without its command', ['docs'], ['search', 'list']],
    [
      'an address with a foreign scheme',
      ['add', 'ftp://example.com/'],
      ['ftp://example.com/', 'https://example.com/'],
    ],
    [
      'an address that is none',
      ['add', 'http://'],
      ['not an address that can be crawled', 'https://example.com/'],
    ],
    [
      'one bad address among good ones',
      ['add', 'https://example.com/', 'mailto:me@example.com'],
      ['mailto:me@example.com'],
    ],
    ['minutes that are none', ['add', 'https://example.com/', '--every', 'often'], ['--every']],
    ['a status that is none', ['domain', 'status', '--status', 'odd'], ['odd', 'pending, active']],
    ['no reason', ['domain', 'block', 'example.com'], ['--reason']],
    ['a switch that is none', ['switch', 'spidr', 'off'], ['Known:', 'spider']],
    ['neither on nor off', ['switch', 'spider', 'maybe'], ['neither on nor off']],
    ['a limit that is none', ['docs', 'list', '--limit', 'all'], ['--limit']],
    [
      'a command of a group that there is not',
      ['sources', 'change'],
      [
        '"outrider sources" has no command "change"',
        'It has list, set, disable,',
        'Alone it does this: publishers with',
      ],
    ],
    [
      'a slip in a command of a group that stands for one',
      ['jobs', 'log', '1'],
      ['"outrider jobs" has no command "log" (did you mean logs?)'],
    ],
    ['a word too many', ['jobs', 'list', '1'], ['"outrider jobs list" takes no "1"']],
    ['an empty word', ['docs', 'search', ''], ['"outrider docs search" takes no empty <words>']],
    ['an empty word among others', ['docs', 'search', 'a', ' '], ['"outrider docs search" takes no empty']],
    ['a word too many behind a path', ['export', 'a.json', 'b'], ['"outrider export" takes no "b"']],
    ['a limit of URLs that is none', ['urls', '--limit', 'abc'], ['--limit', '"abc"']],
    ['nothing to act on', ['urls', 'retry'], ['name either addresses', '--domain']],
    ['two ways of choosing', ['urls', 'remove', 'https://a.example/', '--status', 'dead'], ['name either']],
    ['a priority that is none', ['urls', 'priority', 'high', 'https://a.example/'], ['1–10', '"high"']],
    ['a reason for nothing', ['switch', 'spider', '--reason', 'x'], ['--reason', 'outrider switch']],
    ['a look that acts', ['migrate', '--status', '--to', '3'], ['--status only looks', '--dry-run']],
    ['a limit of none', ['urls', '--limit', '0'], ['--limit', '"0"']],
    [
      'more years than a token lives',
      ['token', 'create', '--name', 'x', '--role', 'read', '--expires', '999w'],
      ['--expires', 'ten years'],
    ],
    ['a version that is none', ['migrate', '--to', 'latest'], ['--to']],
    ['seconds that are none', ['demo', '--seconds', 'soon'], ['--seconds', '"soon"']],
    ['no publishers at all', ['demo', '--publishers', '0', '--seconds', '1'], ['--publishers']],
    ['a port that is none', ['serve', '--port', 'http'], ['--port', '"http"']],
    ['an unknown log level', ['sources', '--log-level', 'loud'], ['--log-level', 'silent']],
    ['a list that is not there', ['run', '--urls', 'nowhere.txt'], ['nowhere.txt', 'one address per line']],
    ['a delay that is none', ['run', '--urls', '-', '--delay-ms', 'short'], ['--delay-ms', '"short"']],
    [
      'a network that is none',
      ['run', '--urls', '-', '--allow-network', 'localhost'],
      ['--allow-network', 'CIDR:PORT'],
    ],
    [
      'a configuration that is not there',
      ['config', '--config', 'nowhere.yaml'],
      ['nowhere.yaml', 'no such file'],
    ],
  ])('%s', async (_name, args, words) => {
    const options = { home, env: { OUTRIDER_DATA_DIR: dataDir() } };
    // `run` takes its list from the process's own input, at once.
    const { code, stderr } = await (args.includes('-')
      ? runOutrider(args, { ...options, input: 'https://example.com/\n' })
      : host.run(args, options));
    for (const word of words) expect(stderr).toContain(word);
    expect(stderr).not.toMatch(/\n {4}at /);
    expect(code).toBe(2);
  });

  test('a list without addresses', async () => {
    writeFileSync(join(home, 'empty.txt'), '\n# only a comment\n\n');
    const { code, stderr } = await run(['run', '--urls', 'empty.txt']);
    expect(code).toBe(2);
    expect(stderr).toContain('empty.txt holds no addresses');
  });
});

describe('configuration', () => {
  test('all problems of a file, the environment and the flags are listed at once', async () => {
    writeFileSync(
      join(home, 'broken.yaml'),
      'fetch:\n  batch: many\n  defualt_delay_ms: 5\nnonsense:\n  key: 1\nlog: loud\n',
    );
    const { code, stderr } = await run(['up', '--config', 'broken.yaml', '--port', '99999'], {
      OUTRIDER_FETCH_TIMEOUT: '5',
      LOG_FORMAT: 'xml',
    });
    expect(code).toBe(2);
    for (const words of [
      '7 problems',
      'fetch.batch must be a whole number 1–200, not "many"',
      'did you mean fetch.default_delay_ms?',
      'nonsense.key in broken.yaml is not a setting',
      'log in broken.yaml must be a group of settings',
      '--port must be a whole number 0–65535, not "99999"',
      'OUTRIDER_FETCH_TIMEOUT is not a setting (did you mean OUTRIDER_FETCH_TIMEOUT_MS?)',
      'LOG_FORMAT must be one of auto | text | json, not "xml"',
    ])
      expect(stderr).toContain(words);
    expect(stderr).toContain('docs/reference/configuration.md');
  });

  test('YAML that cannot be read is named with its place', async () => {
    writeFileSync(join(home, 'torn.yaml'), 'fetch: [1, 2\nlog: {');
    const { code, stderr } = await run(['config', '--config', 'torn.yaml']);
    expect(code).toBe(2);
    expect(stderr).toContain('torn.yaml cannot be read');
    expect(stderr).toMatch(/line \d/);
  });

  test('--check says that all is well', async () => {
    expect(await run(['config', '--check'])).toMatchObject({
      code: 0,
      stdout: 'The configuration is valid.\n',
    });
    expect(JSON.parse((await run(['config', '--check', '--json'])).stdout)).toEqual({ valid: true });
  });

  test.each([
    [
      'a webhook without its secret',
      { OUTRIDER_WEBHOOK_URL: 'http://127.0.0.1/' },
      'webhook.secret is missing',
    ],
    ['images in a bucket without a store', { OUTRIDER_BLOBS_KIND: 's3' }, 's3.endpoint'],
    [
      'an archive without pages',
      { OUTRIDER_ARCHIVE_BUCKET: 'a', OUTRIDER_DOCUMENTS_KEEP_HTML: 'none' },
      'no page',
    ],
  ])('--check says what "outrider up" ends with before anything runs: %s', async (_what, env, words) => {
    for (const args of [
      ['config', '--check'],
      ['up', '--port', '0', '--data', 'never-made'],
    ]) {
      const { code, stdout, stderr } = await run(args, env);
      expect({ code, stdout }, args[0]).toEqual({ code: 2, stdout: '' });
      expect(stderr, args[0]).toContain(words);
    }
    expect(existsSync(join(home, 'never-made'))).toBe(false);
  });

  test('--dump masks secrets and says where values came from', async () => {
    writeFileSync(join(home, 'good.yaml'), 'fetch:\n  batch: 20\n');
    const env = { DATABASE_URL: 'postgresql://app:hunter2@db.invalid/outrider', OUTRIDER_API_PORT: '9000' };
    const args = ['config', '--dump', '--config', 'good.yaml', '--data', 'there'];
    const { code, stdout } = await run([...args, '--json'], env);
    expect(code).toBe(0);
    expect(stdout).not.toContain('hunter2');
    const lines = JSON.parse(stdout) as { key: string; value: unknown; origin: string }[];
    const of = (key: string) => lines.find((line) => line.key === key);
    expect(of('database.url')).toMatchObject({ value: '********', origin: 'environment' });
    expect(of('api.port')).toMatchObject({ value: 9000, origin: 'environment' });
    expect(of('fetch.batch')).toMatchObject({ value: 20, origin: 'file' });
    expect(of('data.dir')).toMatchObject({ value: 'there', origin: 'command line' });
    expect(of('fetch.timeout_ms')).toMatchObject({ value: 30_000, origin: 'default' });
    const table = await run(args, env);
    expect(table.stdout).not.toContain('hunter2');
    expect(table.stdout).toMatch(/^fetch\.batch +20 +file /m);
  });
});

describe('an unreachable database ends with code 3', () => {
  test.each([['sources'], ['up'], ['fetch'], ['migrate', '--status']])('%s %s', async (...args) => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    await new Promise((resolve) => server.close(resolve));
    const { code, stderr } = await runAlone(args, {
      DATABASE_URL: `postgresql://app:hunter2@127.0.0.1:${port}/outrider`,
    });
    expect(stderr).toContain(`127.0.0.1:${port}`);
    expect(stderr).toContain('DATABASE_URL');
    expect(stderr).not.toContain('hunter2');
    expect(code).toBe(3);
  });
});
