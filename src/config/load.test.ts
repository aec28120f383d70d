import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AppError } from '../errors/index.ts';
import { type LoadOptions, loadConfig, suggestion } from './load.ts';
import { listSettings } from './settings.ts';

let dir: string;
let files = 0;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'outrider-config-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function yamlFile(text: string): string {
  files += 1;
  const path = join(dir, `${files}.yaml`);
  writeFileSync(path, text);
  return path;
}

function problemsOf(options: LoadOptions): string[] {
  try {
    loadConfig({ env: {}, ...options });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    expect(error).toMatchObject({ code: 'config_invalid', exitCode: 2 });
    expect(error.advice).toBeTruthy();
    return error.message.split('\n').slice(1);
  }
  return [];
}

describe('files', () => {
  test('a value that something else overrules is held against its form all the same', () => {
    const file = yamlFile('fetch:\n  default_delay_ms: soon\n  batch: [1]\n');
    expect(problemsOf({ file, env: { OUTRIDER_FETCH_DEFAULT_DELAY_MS: '5' } })).toEqual([
      '  - fetch.default_delay_ms must be a whole number 0–3600000, not "soon"',
      expect.stringMatching(/^ {2}- fetch\.batch must be a single value, not \[1\]$/),
    ]);
  });

  test('a group of which everything is commented out is empty', () => {
    const { config } = loadConfig({ env: {}, file: yamlFile('fetch:\n# batch: 7\napi:\n  port: 9000\n') });
    expect(config.api.port).toBe(9000);
    expect(config.fetch.batch).toBe(50);
  });

  test('a setting in place of a group is told how it is written', () => {
    const file = yamlFile('fetch.batch: 7\nfetsh: 1\nodd:\nlog: loud\n');
    expect(problemsOf({ file })).toEqual([
      `  - fetch.batch in ${file} must be written as "fetch:" with "batch:" indented below`,
      `  - fetsh in ${file} is not a group of settings (did you mean fetch?)`,
      `  - odd in ${file} is not a group of settings`,
      `  - log in ${file} must be a group of settings`,
    ]);
  });

  test('a group of fetchers has one spelling', () => {
    expect(
      problemsOf({ overrides: { 'fetch.pool': 'News' }, flagNames: { 'fetch.pool': '--pool' } }),
    ).toEqual(['  - --pool must be a short name of a-z, 0-9, - and _, not "News"']);
    expect(loadConfig({ env: { OUTRIDER_FETCH_POOL: 'news-2' } }).config.fetch.pool).toBe('news-2');
  });
});

describe('precedence', () => {
  const file = () => yamlFile('fetch:\n  default_delay_ms: 3000\n  batch: 7\n  max_tries: 9\n');
  const env = { OUTRIDER_FETCH_BATCH: '8', OUTRIDER_FETCH_MAX_TRIES: '4' };
  const overrides = { 'fetch.max_tries': '2' };

  test('command line over environment over file over default', () => {
    const { config, origins } = loadConfig({ file: file(), env, overrides });
    expect(config.fetch).toMatchObject({ maxTries: 2, batch: 8, defaultDelayMs: 3000, timeoutMs: 30_000 });
    expect(origins.get('fetch.max_tries')).toBe('command line');
    expect(origins.get('fetch.batch')).toBe('environment');
    expect(origins.get('fetch.default_delay_ms')).toBe('file');
    expect(origins.get('fetch.timeout_ms')).toBe('default');
  });

  test('the file may be named by the environment, and the command line names another', () => {
    const named = file();
    const other = yamlFile('api:\n  port: 9000\n');
    expect(loadConfig({ env: { OUTRIDER_CONFIG: named } }).config.fetch.batch).toBe(7);
    const both = loadConfig({ env: { OUTRIDER_CONFIG: named }, file: other });
    expect(both.config.fetch.batch).toBe(50);
    expect(both.config.api.port).toBe(9000);
  });

  test('an empty variable and an undefined flag count as not given', () => {
    const { config, origins } = loadConfig({
      env: { OUTRIDER_API_PORT: '', DATABASE_URL: '' },
      overrides: { 'api.port': undefined },
    });
    expect(config.api.port).toBe(8060);
    expect(config.database.url).toBeNull();
    expect(origins.get('database.url')).toBe('default');
  });

  test('every default is a value its own setting would read', () => {
    for (const setting of listSettings()) {
      if (setting.default === null) continue;
      expect(setting.parse(setting.default), setting.key).toEqual(setting.default);
    }
  });
});

describe('values', () => {
  test('lists are lines in YAML and commas in the environment', () => {
    const wanted = ['127.0.0.0/8:8080', '[fd00::]/8:*'];
    const file = yamlFile(`fetch:\n  allow_networks:\n    - ${wanted[0]}\n    - "${wanted[1]}"\n`);
    expect(loadConfig({ env: {}, file }).config.fetch.allowNetworks).toEqual(wanted);
    const env = { OUTRIDER_FETCH_ALLOW_NETWORKS: ` ${wanted.join(' , ')} ` };
    expect(loadConfig({ env }).config.fetch.allowNetworks).toEqual(wanted);
  });

  test.each([
    ['OUTRIDER_API_PORT', '70000'],
    ['OUTRIDER_API_PORT', '80.5'],
    ['OUTRIDER_API_PORT', '0x50'],
    ['LOG_LEVEL', 'loud'],
    ['OUTRIDER_FETCH_ALLOW_NETWORKS', '10.0.0.0/8'],
    ['OUTRIDER_FETCH_PRODUCT_TOKEN', ' '],
    // Rules for a name with a digit or a version would not be found, and not be followed.
    ['OUTRIDER_FETCH_PRODUCT_TOKEN', 'Bot2'],
    ['OUTRIDER_FETCH_PRODUCT_TOKEN', 'Bot/1.0'],
    // No request could be sent with these.
    ['OUTRIDER_FETCH_LOCAL_ADDRESS', 'eth0'],
    ['OUTRIDER_FETCH_USER_AGENT', 'Обозреватель/1'],
    ['OUTRIDER_FETCH_USER_AGENT', 'Bot\t1'],
    ['OUTRIDER_FETCH_USER_AGENTS', 'Bot/1,Bot\u2122/2'],
    ['OUTRIDER_FETCH_CONTACT_URL', 'https://пример.example/bot'],
  ])('%s=%j is refused by name and with the form it must have', (name, value) => {
    const [problem = '', ...others] = problemsOf({ env: { [name]: value } });
    expect(others).toEqual([]);
    expect(problem).toContain(`${name} must be `);
    expect(problem).toContain(`"${value}"`);
  });
});

describe('secrets in files', () => {
  const file = (text: string): string => yamlFile(text);

  test('a file that a variable names is read, without the line end editors leave', () => {
    const env = { DATABASE_URL_FILE: file('postgresql://a:b@db/outrider\n') };
    const { config, origins } = loadConfig({ env });
    expect(config.database.url).toBe('postgresql://a:b@db/outrider');
    expect(origins.get('database.url')).toBe('environment');
    expect(loadConfig({ env: { DATABASE_URL_FILE: '' } }).config.database.url).toBeNull();
  });

  test('what cannot be used is told by name, and never with its text', () => {
    const env = {
      DATABASE_URL: 'postgresql://a:hunter2@db/outrider',
      DATABASE_URL_FILE: file('postgresql://a:hunter3@db/outrider'),
      AUTH_JWT_SECRET_FILE: file('hunter4'),
      OUTRIDER_TOKEN_FILE: join(dir, 'nowhere'),
      OUTRIDER_S3_SECRET_KEY_FILE: file('\n'),
      OUTRIDER_S3_ACCESS_KEY_FILE: file('x'.repeat(70_000)),
      OUTRIDER_API_PORT_FILE: file('1'),
    };
    const problems = problemsOf({ env });
    expect(problems).toHaveLength(6);
    const text = problems.join('\n');
    expect(text).toContain('DATABASE_URL_FILE cannot be used: DATABASE_URL is set too');
    expect(text).toContain('AUTH_JWT_SECRET must be a text of at least 32 bytes');
    expect(text).toContain('OUTRIDER_TOKEN_FILE cannot be used: ENOENT');
    expect(text).toContain('is empty');
    expect(text).toContain('larger than any secret');
    expect(text).toContain('OUTRIDER_API_PORT_FILE is not a setting');
    expect(text).not.toContain('hunter');
  });
});

describe('all problems at once', () => {
  test('from file, environment and command line', () => {
    const file = yamlFile(
      'fetch:\n  batch: many\n  defualt_delay_ms: 5\nserver:\n  port: 1\napi: 8060\nlog:\n  level: info\n',
    );
    const env = { OUTRIDER_API_PORT: 'eighty', OUTRIDER_FETCH_BACTH: '1', LOG_FORMAT: 'xml' };
    const problems = problemsOf({ file, env, overrides: { 'up.fetchers': '-1' } }).join('\n');
    expect(problems.split('\n')).toHaveLength(8);
    expect(problems).toContain('fetch.batch must be a whole number 1–200, not "many"');
    expect(problems).toContain('did you mean fetch.default_delay_ms?');
    expect(problems).toContain('server.port');
    expect(problems).toContain('api in ');
    expect(problems).toContain('OUTRIDER_API_PORT must be');
    expect(problems).toContain('did you mean OUTRIDER_FETCH_BATCH?');
    expect(problems).toContain('LOG_FORMAT must be one of auto | text | json');
    expect(problems).toContain('up.fetchers must be');
  });

  test('a slip in a list of secrets is told by its place', () => {
    const env = { OUTRIDER_FETCH_PROXIES: 'http://a:3128, htp://me:hunter2@b:3128' };
    expect(problemsOf({ env })).toEqual([
      '  - OUTRIDER_FETCH_PROXIES must be a list of http://…, https://… or socks5://… (number 2 is not one)',
    ]);
  });

  test('a secret that cannot be read is not repeated', () => {
    const file = yamlFile('database:\n  url: [hunter2, secret]\n');
    const problems = problemsOf({ file });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain('database.url must be');
    expect(problems[0]).not.toContain('hunter2');
  });

  test.each([
    ['fetch: [1, 2', 'cannot be read'],
    ['- a\n- b\n', 'must hold groups of settings'],
    ['just words\n', 'must hold groups of settings'],
    ['fetch:\n  - batch\n', 'must be a group of settings'],
    ['a: &a [1]\nb: [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n', 'cannot be read'],
  ])('the file %j is refused', (text, words) => {
    expect(problemsOf({ file: yamlFile(text) }).join('\n')).toContain(words);
  });

  test('a file that is not there is named', () => {
    const path = join(dir, 'missing.yaml');
    expect(problemsOf({ file: path }).join('\n')).toContain(path);
  });

  test('an empty file is no problem', () => {
    expect(problemsOf({ file: yamlFile('# nothing set\n') })).toEqual([]);
  });

  test('a variable of somebody else is none of our business', () => {
    expect(problemsOf({ env: { OUTRIDERX: '1', PORT: 'x', PATH: '/bin' } })).toEqual([]);
  });
});

test.each([
  ['fetch.bach', ' (did you mean fetch.batch?)'],
  ['nothing.like.it', ''],
  ['x'.repeat(5000), ''],
])('the nearest name to %.20s', (wrong, text) => {
  expect(suggestion(wrong, ['fetch.batch', 'api.port'])).toBe(text);
});

describe('websub.callback_url', () => {
  const load = (value: string) => loadConfig({ env: { OUTRIDER_WEBSUB_CALLBACK_URL: value } }).config.websub;
  test.each([
    ['https://crawler.example.org/', 'https://crawler.example.org'],
    ['http://a.example:8080/hooks//', 'http://a.example:8080/hooks'],
    ['', null],
  ])('%s', (value, expected) => {
    expect(load(value).callbackUrl).toBe(expected);
  });
  test.each([
    'crawler.example.org',
    'ftp://a.example',
    'https://u:p@a.example',
    'https://a.example/?x',
    'https://a.example/#x',
  ])('%s is refused', (value) => {
    expect(() => load(value)).toThrow(/OUTRIDER_WEBSUB_CALLBACK_URL must be an http\(s\) address/);
  });
});
