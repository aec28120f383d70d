import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { completedCommands } from '../../src/cli/completion/model.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { runOutrider } from '../process/outrider.ts';
import { inTerminal, plain } from '../process/terminal.ts';

let home: string;
let program: Command;
const scriptOf = (shell: string): string => join(home, `completion.${shell}`);
const find = (shell: string): string | undefined =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((dir) => join(dir, shell))
    .find((path) => existsSync(path));

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'outrider-completion-'));
  program = await buildProgram();
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { stdout, stderr, code } = await runOutrider(['completion', shell], { home });
    expect(stderr).toBe('');
    expect(code).toBe(0);
    writeFileSync(scriptOf(shell), stdout);
  }
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

// As the shell calls it: the words, the last of them being typed.
function askBash(words: readonly string[]): string[] {
  const ask = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _outrider; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const text = execFileSync('bash', ['--norc', '-uc', ask, 'bash', scriptOf('bash'), 'outrider', ...words], {
    encoding: 'utf8',
  });
  return text.split('\n').filter((line) => line !== '');
}

describe('bash', () => {
  test.each<[string[], string[]]>([
    [['do'], ['domain', 'doctor', 'docs'].sort()],
    [
      ['docs', 's'],
      ['search', 'show'],
    ],
    [
      ['docs', ''],
      ['copies', 'help', 'list', 'search', 'show'],
    ],
    [['docs', 'list', '--la'], ['--language']],
    [['docs', 'list', '--json', '--li'], ['--limit']],
    // The values of an option, and none where they are anybody's.
    [
      ['domain', 'status', '--sort', ''],
      ['documents', 'name', 'recent', 'score'],
    ],
    [['domain', 'status', '--status', 'bl'], ['blocked']],
    [['docs', 'list', '--since', ''], []],
    [
      ['sources', 'delete', 'x', '--documents', ''],
      ['delete', 'keep'],
    ],
    [
      ['sources', 'set', 'x', '--fixed', 'o'],
      ['off', 'on'],
    ],
    [['--log-level', 'tr'], ['trace']],
    // A value is no command, whatever it says.
    [['--data', 'docs', 'sinks', 'p'], ['pause']],
    [
      ['sinks', 'replay', '--source', 'pause', '--s'],
      ['--server', '--since', '--source'],
    ],
    [
      ['completion', ''],
      ['bash', 'fish', 'zsh'],
    ],
    [['switch', 'spider', 'of'], ['off']],
    [['nonsense', '--ver'], ['--version']],
  ])('%j', (words, offered) => {
    expect(askBash(words).sort()).toEqual(offered);
  });

  test('every command and option there is, and nothing else', () => {
    for (const { path, commands, options } of completedCommands(program)) {
      const words = path === '' ? [] : path.split(' ');
      expect(askBash([...words, '--'])).toEqual(
        options.flatMap((one) => one.flags.filter((flag) => flag.startsWith('--'))),
      );
      if (commands.length > 0)
        expect(askBash([...words, ''])).toEqual(expect.arrayContaining(commands.map((one) => one.name)));
    }
  });

  test('a shell that has sourced it completes the program', () => {
    const { stdout } = spawnSync(
      'bash',
      ['--norc', '-c', `source "$1"; complete -p outrider`, 'bash', scriptOf('bash')],
      {
        encoding: 'utf8',
      },
    );
    expect(stdout.trim()).toBe('complete -o default -F _outrider outrider');
  });
});

const others = { zsh: find('zsh'), fish: find('fish') };

describe('zsh', () => {
  test('its script names every command and quotes what needs it', () => {
    const script = readFileSync(scriptOf('zsh'), 'utf8');
    expect(script.startsWith('#compdef outrider\n')).toBe(true);
    for (const { path } of completedCommands(program)) expect(script).toContain(`    '${path}')\n`);
  });

  test.skipIf(others.zsh === undefined)('zsh itself reads it (skipped where there is no zsh)', () => {
    const { status, stderr } = spawnSync(
      others.zsh!,
      [
        '-fc',
        'autoload -Uz compinit; compinit -D; source "$1"; print -r -- $_comps[outrider]',
        'zsh',
        scriptOf('zsh'),
      ],
      { encoding: 'utf8' },
    );
    expect(stderr).toBe('');
    expect(status).toBe(0);
  });

  test.skipIf(others.zsh === undefined)('zsh offers what fits when Tab is typed', async () => {
    const steps: [string, string][] = [
      [
        '> ',
        `autoload -Uz compinit; compinit -D; source ${scriptOf('zsh')}; outrider() { : }; print rea''dy\r`,
      ],
      ['ready', 'outrider docs s\t\t'],
      ['show    -- one document', '\u0015outrider domain status --sort \t\t'],
      ['recent     score', '\u0015exit\r'],
    ];
    let from = 0;
    const { text } = await inTerminal([], {
      home,
      columns: 120,
      env: { PS1: '> ' },
      shell: `exec ${others.zsh} -f -i`,
      onText: (seen, terminal) => {
        const [awaited, typed] = steps[0] ?? [];
        const at = awaited === undefined ? -1 : seen.indexOf(awaited, from);
        if (at < 0) return;
        from = at + awaited!.length;
        steps.shift();
        terminal.write(typed!);
      },
    });
    expect(steps).toEqual([]);
    expect(plain(text)).toMatch(/search\s+-- full-text search/);
    expect(plain(text)).toMatch(/documents\s+name\s+recent\s+score/);
  });
});

describe('fish', () => {
  test('its script names every command', () => {
    const script = readFileSync(scriptOf('fish'), 'utf8');
    for (const { path, commands } of completedCommands(program))
      for (const { name } of commands)
        expect(script).toContain(`-n '__outrider_at \\'${path}\\'' -f -a '${name}'`);
  });

  test.skipIf(others.fish === undefined)('fish itself reads it (skipped where there is no fish)', () => {
    const { status, stderr, stdout } = spawnSync(
      others.fish!,
      ['--no-config', '-c', `source ${scriptOf('fish')}; complete -C 'outrider docs s'`],
      { encoding: 'utf8' },
    );
    expect(stderr).toBe('');
    expect(status).toBe(0);
    expect(stdout).toContain('search');
  });
});

test('another shell is told which there are', async () => {
  const { code, stderr } = await runOutrider(['completion', 'tcsh'], { home });
  expect(code).toBe(2);
  expect(stderr).toContain('bash, zsh, fish');
});
