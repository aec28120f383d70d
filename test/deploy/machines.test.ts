import { describe, expect, test } from 'vitest';
import { buildProgram } from '../../src/cli/program.ts';
import { listSettings } from '../../src/config/settings.ts';
import { EXIT } from '../../src/errors/index.ts';
import { wrongPartOf } from './commands.ts';
import {
  filesBelow,
  megabytes,
  problemsOfEnvironment,
  read,
  readYaml,
  seconds,
  toldMemory,
} from './files.ts';

const graceSeconds = listSettings().find((one) => one.key === 'up.grace_seconds')!.default as number;
type Unit = Map<string, string[]>;

/** Lines of a unit by their key; a key may stand there more than once. */
function readUnit(path: string): Unit {
  const unit: Unit = new Map();
  for (const line of read(path).split('\n')) {
    if (line === '' || line.startsWith('#') || /^\[\w+\]$/.test(line)) continue;
    const match = /^([A-Z]\w+)=(.*)$/.exec(line);
    if (match === null) throw new Error(`${path}: "${line}" cannot be read`);
    unit.set(match[1]!, [...(unit.get(match[1]!) ?? []), match[2]!]);
  }
  return unit;
}
const only = (unit: Unit, key: string): string => {
  const values = unit.get(key) ?? [];
  if (values.length !== 1) throw new Error(`${key} stands there ${values.length} times`);
  return values[0]!;
};
const paths = filesBelow('deploy/systemd').filter((path) => path.endsWith('.service'));

describe.each(paths)('%s', (path) => {
  const unit = readUnit(path);
  const words = only(unit, 'ExecStart').split(' ').slice(2);
  const isRole = words[0] !== 'backup';

  test('calls what there is, with settings that there are', async () => {
    expect(only(unit, 'ExecStart')).toMatch(/^\/usr\/bin\/node \/opt\/outrider\/dist\/src\/cli\/main\.js /);
    expect(wrongPartOf(await buildProgram(), words)).toBeNull();
    const environment = Object.fromEntries(
      (unit.get('Environment') ?? [])
        .flatMap((line) => line.split(' '))
        .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
    );
    expect(problemsOfEnvironment(environment)).toEqual([]);
    const credentials = (unit.get('LoadCredential') ?? []).map((one) => one.split(':')[0]);
    for (const [name, value] of Object.entries(environment))
      if (name.endsWith('_FILE')) expect(credentials).toContain(value.replace('%d/', ''));
  });

  test('is nobody who may do anything', () => {
    expect(only(unit, 'User')).toBe('outrider');
    for (const key of [
      'NoNewPrivileges',
      'PrivateTmp',
      'PrivateDevices',
      'ProtectHome',
      'RestrictNamespaces',
    ])
      expect(only(unit, key), key).toBe('yes');
    expect(only(unit, 'ProtectSystem')).toBe('strict');
    expect(only(unit, 'CapabilityBoundingSet')).toBe('');
    expect(unit.has('MemoryDenyWriteExecute')).toBe(false);
    expect(only(unit, 'RestrictAddressFamilies').split(' ').sort()).toEqual([
      'AF_INET',
      'AF_INET6',
      'AF_NETLINK',
      'AF_UNIX',
    ]);
  });

  test.runIf(isRole)('comes back after accidents, and not when that changes nothing', () => {
    expect(only(unit, 'Restart')).toBe('on-failure');
    expect(only(unit, 'RestartPreventExitStatus').split(' ').map(Number)).toEqual([
      EXIT.usage,
      EXIT.busyPort,
      EXIT.unsupportedPlatform,
    ]);
    expect(only(unit, 'StartLimitIntervalSec')).toBe('0');
  });

  test.runIf(isRole)('has time to stop, and memory as the guide tells', () => {
    expect(seconds(only(unit, 'TimeoutStopSec'))).toBeGreaterThan(graceSeconds);
    expect(only(unit, 'KillMode')).toBe('mixed');
    expect(megabytes(only(unit, 'MemoryMax'))).toBeGreaterThanOrEqual(toldMemory()[words[0]!]!);
  });

  test.runIf(isRole)('is watched as decision 0120 has it', () => {
    expect(only(unit, 'Type')).toBe('notify');
    expect(only(unit, 'NotifyAccess')).toBe('all');
    expect(seconds(only(unit, 'WatchdogSec'))).toBeGreaterThanOrEqual(60);
  });
});

test('there is a unit for every role', () => {
  const roles = paths.map((path) => only(readUnit(path), 'ExecStart').split(' ')[2]);
  expect(roles.sort()).toEqual(['backup', 'fetch', 'schedule', 'serve', 'up']);
});

test('where roles run apart the backup is of their database, and never of another', () => {
  const address = '/etc/outrider/database-url';
  const addition = readUnit('deploy/systemd/outrider-backup-database.conf');
  const role = readUnit('deploy/systemd/outrider-schedule.service');
  expect(addition.get('LoadCredential')).toEqual([only(role, 'LoadCredential')]);
  expect(role.get('Environment')).toEqual(expect.arrayContaining(addition.get('Environment')!));
  // A machine with that address has roles apart: without the addition the unit must not start.
  const backup = readUnit('deploy/systemd/outrider-backup.service');
  expect(only(backup, 'AssertPathExists')).toBe(`!${address}`);
  // An empty value takes back what the unit says.
  expect(addition.get('AssertPathExists')).toEqual(['', address]);
  expect(read('docs/guides/deploying.md')).toContain(
    'deploy/systemd/outrider-backup-database.conf /etc/systemd/system/outrider-backup.service.d/',
  );
});

describe('cloud-init', () => {
  type File = { path: string; permissions: string; owner: string; content: string };
  type CloudConfig = {
    packages: string[];
    users: (string | { name: string })[];
    write_files: File[];
    runcmd: unknown[];
  };
  const text = read('deploy/cloud-init/fetcher.yml');
  const config = readYaml<CloudConfig>('deploy/cloud-init/fetcher.yml');
  const file = (path: string): File => config.write_files.find((one) => one.path === path)!;

  test('begins as user data must, and brings the unit that is here', () => {
    expect(text.startsWith('#cloud-config\n')).toBe(true);
    const unit = file('/etc/systemd/system/outrider-fetch@.service');
    expect(unit.content).toBe(read('deploy/systemd/outrider-fetch@.service'));
  });

  test('what is secret is root’s alone, and every file has an owner', () => {
    for (const path of ['/etc/outrider/database-url', '/etc/outrider/outrider.env'])
      expect(file(path).permissions, path).toBe('0600');
    for (const one of config.write_files) expect(one.owner, one.path).toBe('root:root');
  });

  test('sets what there is, and verifies who the database is', () => {
    const lines = file('/etc/outrider/outrider.env')
      .content.split('\n')
      .filter((line) => /^\w/.test(line));
    expect(problemsOfEnvironment(Object.fromEntries(lines.map((line) => line.split('=', 2))))).toEqual([]);
    const address = new URL(file('/etc/outrider/database-url').content.trim());
    expect(address.searchParams.get('sslmode')).toBe('verify-full');
    expect(file(address.searchParams.get('sslrootcert')!)).toBeDefined();
  });

  test('the firewall opens the ports that the fetchers have', () => {
    const [, from, to] = /tcp dport \{ 22, (\d+)-(\d+) \}/.exec(file('/etc/nftables.conf').content)!;
    const first = only(readUnit('deploy/systemd/outrider-fetch@.service'), 'ExecStart').split(' ').at(-1)!;
    expect([from, to]).toEqual([first.replace('%i', '1'), first.replace('%i', '9')]);
  });
});
