import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { displayWidth } from '../../src/cli/output.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { submit } from '../../src/frontier/index.ts';
import { saveSink } from '../../src/outbox/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { type ApiLab, startApiLab } from '../api/lab.ts';
import { done, finish, item, take } from '../frontier/fixtures.ts';
import { CliHost } from '../process/outrider.ts';
import { inTerminal, plain, programPath, type Seen, TerminalHost } from '../process/terminal.ts';
import { storeDocuments } from '../sinks/store.ts';

// What a person sees at a terminal, command by command.
let lab: ApiLab;
let home: string;
let terminal: TerminalHost;
let host: CliHost;
const title = 'The council votes for a new library after months of argument about what it will cost';
const wideTitle = '博物館の増築の費用が62パーセント増える理由と市議会の反応について';
const story = 'https://news.example/politics/2026/11/16/the-council-votes-for-a-new-library-at-last';
const slug = 'the_example_morning_post_and_evening_standard';

beforeAll(async () => {
  lab = await startApiLab();
  home = mkdtempSync(join(tmpdir(), 'outrider-tour-'));
  terminal = await TerminalHost.start(home);
  host = new CliHost();
  const { pool, db } = lab.database;
  await saveSink(pool, { name: 'elasticsearch', kind: 'elasticsearch', enabled: true });
  await pool.query(
    `UPDATE sink_states SET failing_since = now() - interval '1 hour', failures = 3,
            error = 'connect ECONNREFUSED 127.0.0.1:9200 while writing a bulk of 200 documents' WHERE sink = 'elasticsearch'`,
  );
  const text =
    'The council voted on Tuesday for a library of its own, and not all of it was of one mind. '.repeat(9);
  await storeDocuments(pool, [
    { url: story, title, text: `${text}\n\n${text}` },
    {
      url: 'https://wide.example/1',
      title: wideTitle,
      text: '市議会は火曜日に図書館を可決した。'.repeat(30),
      publishedAt: new Date('2026-11-01T16:30:00Z'),
      meta: { offsets: { published: 540, modified: null } },
    },
  ]);
  await lab.index();
  await createSource(pool, { url: 'https://news.example/', name: slug.replaceAll('_', ' ') });
  await createSource(pool, { url: 'https://wide.example/', name: wideTitle });
  await submit(pool, [item('gone.test', 'story', { sourceId: null })]);
  const [held] = await take(db);
  await finish(db, held!, {
    items: [done(held!.urls[0]!.hash, { status: 'dead', errorCode: 'http_410', errorText: '410 Gone' })],
  });
  await submit(pool, [item('waits.test', 'story', { sourceId: null })]);
  await submit(pool, [item('blocked.test', 'story', { sourceId: null })]);
  const run = await host.run(['domain', 'block', 'blocked.test', '--reason', 'they asked us to'], {
    home,
    env: local(),
  });
  expect(run.stderr).toBe('');
});
afterAll(async () => {
  await terminal?.close();
  await host?.close();
  await lab.close();
  rmSync(home, { recursive: true, force: true });
});

const local = (): Record<string, string> => ({ DATABASE_URL: lab.database.url });
const see = (args: string[], columns = 80, env: Record<string, string> = {}): Promise<Seen> =>
  terminal.run(args, { columns, env: { ...local(), ...env } });
const linesOf = ({ text }: Seen): string[] => plain(text).split('\n');

function* commandsOf(command: Command, path: string[] = []): Generator<[string, Command]> {
  yield [path.join(' ') || '(none)', command];
  for (const one of command.commands) yield* commandsOf(one, [...path, one.name()]);
}

describe('help', () => {
  test.each([80, 200])('of every command fits %i columns and describes each option', async (columns) => {
    const commands = [...commandsOf(await buildProgram())];
    expect(commands.length).toBeGreaterThan(50);
    for (const [path, command] of commands) {
      command.configureOutput({ getOutHelpWidth: () => columns });
      const help = command.helpInformation();
      for (const line of help.split('\n'))
        expect(displayWidth(line), `${path}: ${line}`).toBeLessThanOrEqual(columns);
      expect(command.description(), path).not.toBe('');
      for (const option of command.options)
        expect(option.description, `${path} ${option.flags}`).not.toBe('');
    }
  });

  test('every command stands in the reference', async () => {
    const text = readFileSync(join(programPath, '../../../../docs/reference/command-line.md'), 'utf8');
    for (const command of (await buildProgram()).commands)
      expect(text).toMatch(new RegExp(`\`${command.name()}\\b`));
  });

  test('on a terminal it is as wide as that', async () => {
    const seen = await see(['docs', '--help']);
    expect(seen.code).toBe(0);
    expect(Math.max(...linesOf(seen).map(displayWidth))).toBeLessThanOrEqual(80);
  });
});

describe('tables', () => {
  const commands: [string[], string[]][] = [
    [['sources'], [slug, 'CHANNELS', 'STATE']],
    [['channels'], ['No channels yet']],
    [
      ['domain', 'status'],
      ['blocked.test', 'reason: they asked us to'],
    ],
    [['domain', 'top', '--pages', '1'], []],
    [
      ['docs', 'list'],
      ['TITLE', 'PUBLISHED', 'https://wide.example/1'],
    ],
    [['docs', 'search', 'library'], ['The council votes']],
    [['sinks'], ['elasticsearch', 'failing for', 'ECONNREFUSED']],
    [['urls'], ['dead: http_410', 'https://gone.test/story']],
    [['workers'], []],
    [['switch'], ['adaptive_intervals']],
    [['config'], ['fetch.default_delay_ms']],
  ];
  for (const columns of [80, 200])
    test.each(commands)(`%j fits ${columns} columns, and what matters is whole`, async (args, words) => {
      const seen = await see(args, columns);
      expect(seen.code, seen.text).toBe(0);
      for (const line of linesOf(seen)) expect(displayWidth(line), line).toBeLessThanOrEqual(columns);
      for (const word of words) expect(plain(seen.text)).toContain(word);
    });

  test('with room there are more columns, and nothing is cut', async () => {
    const [narrow, wide] = [await see(['docs', 'list']), await see(['docs', 'list'], 250)];
    expect(narrow.text).toContain('…');
    expect(wide.text).not.toContain('…');
    for (const text of [title, wideTitle, story]) expect(wide.text).toContain(text);
    expect((await see(['sources'], 250)).text).toContain('ROBOTS');
  });

  test('columns stay in line below and beside wide characters', async () => {
    const rows = linesOf(await see(['docs', 'list'])).filter((line) => / en +\d+ /.test(line));
    expect(rows).toHaveLength(2);
    const starts = rows.map((line) => displayWidth(line.slice(0, line.search(/ en +\d+ /))));
    expect(new Set(starts).size).toBe(1);
  });
});

describe('one thing at a time', () => {
  test('a document: title, facts, text in lines of words', async () => {
    const seen = await see(['docs', 'show', story]);
    const lines = linesOf(seen);
    expect(lines.slice(0, 2).join(' ').trim()).toContain('The council votes for a new library');
    expect(seen.text).toContain(`Address    ${story}`);
    expect(seen.text).toMatch(/Published {2}\d{4}-\d\d-\d\d \d\d:\d\d UTC, /);
    for (const line of lines.filter((one) => !one.includes('://')))
      expect(displayWidth(line), line).toBeLessThanOrEqual(80);
    const wide = linesOf(await see(['docs', 'show', 'https://wide.example/1']));
    for (const line of wide) expect(displayWidth(line), line).toBeLessThanOrEqual(80);
    expect(wide.join('\n')).toContain('Published  2026-11-02 01:30 +09:00, ');
  });

  test('piped, its text is as it is', async () => {
    const { stdout } = await host.run(['docs', 'show', 'https://wide.example/1'], { home, env: local() });
    expect(stdout).toContain('市議会は火曜日に図書館を可決した。'.repeat(30));
  });

  test('a card of a domain', async () => {
    const seen = await see(['domain', 'info', 'blocked.test']);
    for (const words of [
      'they asked us to',
      'Events',
      'What you can do',
      'outrider domain reset blocked.test',
    ])
      expect(seen.text).toContain(words);
    for (const line of linesOf(seen)) expect(displayWidth(line), line).toBeLessThanOrEqual(80);
  });

  test.each([
    ['https://waits.test/story', 'waiting.', 'No fetcher is running'],
    ['https://blocked.test/story', 'they asked us to', 'outrider domain reset blocked.test'],
    ['https://gone.test/story', 'dead.', 'outrider urls retry https://gone.test/story'],
    ['https://unknown.test/story', 'never submitted', 'outrider submit https://unknown.test/story'],
    // As a shell takes it whole.
    ['https://unknown.test/?a=1&b=2', 'never submitted', "outrider submit 'https://unknown.test/?a=1&b=2'"],
    ['blocked.test', 'blocked.', 'outrider domain reset blocked.test'],
  ])('explain %s', async (subject, state, advice) => {
    const seen = await see(['explain', subject]);
    expect(seen.code).toBe(0);
    // Lines are broken between words, so the words are looked for in one line.
    const told = linesOf(seen).join(' ').replace(/ +/g, ' ');
    expect(told).toContain(state);
    expect(told).toContain(advice);
    for (const line of linesOf(seen)) expect(displayWidth(line), line).toBeLessThanOrEqual(80);
  });

  test('doctor', async () => {
    const seen = await see(['doctor'], 80, {
      OUTRIDER_FETCH_CONTACT_URL: 'http://localhost/about',
      OUTRIDER_API_PORT: '0',
    });
    expect(plain(seen.text)).toMatch(/^ok {4}schema /m);
    expect(seen.text).toContain('\u001b[31mfail');
    for (const line of linesOf(seen)) expect(displayWidth(line), line).toBeLessThanOrEqual(80);
  });
});

describe('a terminal and a pipe', () => {
  test('bold and colours on a terminal only, and not where they are not wanted', async () => {
    expect((await see(['switch'])).text).toContain('\u001b[1mSWITCH');
    expect((await see(['switch'], 80, { NO_COLOR: '1' })).text).not.toContain('\u001b');
    expect((await see(['switch'], 80, { TERM: 'dumb' })).text).not.toContain('\u001b[1m');
    expect((await host.run(['switch'], { home, env: local() })).stdout).not.toContain('\u001b');
  });

  test('log lines follow the same rule', async () => {
    const stop = (text: string, terminal: { write(keys: string): void }): void => {
      if (text.includes('serve is running')) terminal.write('\u0003');
    };
    const options = { home, columns: 80, onText: stop };
    const args = ['serve', '--port', '0'];
    expect((await inTerminal(args, { ...options, env: local() })).text).toContain('\u001b[36minfo');
    const without = await inTerminal(args, { ...options, env: { ...local(), NO_COLOR: '1' } });
    expect(without.text).toContain('info');
    expect(without.text).not.toContain('\u001b[');
  });

  test('long work shows how far it is, and wipes that at its end; piped it is silent', async () => {
    const seen = await see(['domain', 'recalculate'], 60);
    expect(seen.text).toMatch(/█+░* \d+ % {2}\d+\/256/);
    expect(seen.text).toMatch(/\r\u001b\[K[^█]*domains looked at/);
    for (const line of seen.text.split('\r'))
      expect(displayWidth(plain(line).split('\n')[0]!)).toBeLessThanOrEqual(60);
    const piped = await host.run(['domain', 'recalculate'], { home, env: local() });
    expect(piped.stderr).toBe('');
  });

  const hasJq = spawnSync('jq', ['--version']).status === 0;
  test('JSON goes through a pipe to another program', async () => {
    const reader = hasJq
      ? `jq -r '.[].title'`
      : `${process.execPath} -e 'let t="";process.stdin.on("data",(d)=>t+=d).on("end",()=>JSON.parse(t).forEach((d)=>console.log(d.title)))'`;
    const seen = await inTerminal([], {
      home,
      columns: 80,
      env: local(),
      shell: `$outrider docs list --json | ${reader}`,
    });
    expect(seen.text.split('\n')).toEqual(expect.arrayContaining([title, wideTitle]));
  });

  test('a reader that leaves early is no error', async () => {
    const seen = await inTerminal([], {
      home,
      columns: 80,
      env: local(),
      shell: '$outrider config | head -n 1',
    });
    expect(seen.code).toBe(0);
    expect(seen.text).toMatch(/^SETTING .*\n$/);
  });

  test('errors say what to do, in words and without a stack', async () => {
    const seen = await see(['docs', 'show', 'https://nowhere.test/x']);
    expect(seen.code).toBe(2);
    expect(seen.text).toContain('error: there is no document of https://nowhere.test/x');
    expect(seen.text).toContain('outrider explain https://nowhere.test/x');
    expect(seen.text).not.toMatch(/\n {4}at /);
  });

  test('Ctrl-C ends in order and leaves the cursor where it can be seen', async () => {
    let isTyped = false;
    const seen = await inTerminal(['serve', '--port', '0'], {
      home,
      columns: 80,
      env: local(),
      onText: (text, terminal) => {
        if (isTyped || !text.includes('serve is running')) return;
        isTyped = true;
        terminal.write('\u0003');
      },
    });
    expect(seen.code).toBe(0);
    expect(seen.text).toContain('serve is stopping');
    expect(seen.text.lastIndexOf('\u001b[?25l')).toBeLessThanOrEqual(seen.text.lastIndexOf('\u001b[?25h'));
  });
});
