import { expect, test } from 'vitest';
import { homeOf, userDataDir } from './places.ts';

const noHome = (): string => {
  throw new Error('uv_os_homedir returned ENOENT');
};

test('a user without a home is told to name a directory', () => {
  expect(homeOf(noHome)).toBeNull();
  expect(() => userDataDir(undefined, noHome)).toThrow('this user has no home directory');
  expect(() => userDataDir('not/absolute', noHome)).toThrow('this user has no home directory');
  expect(userDataDir('/srv/data', noHome)).toBe('/srv/data/outrider');
  expect(userDataDir('not/absolute', () => '/home/anna')).toBe('/home/anna/.local/share/outrider');
});
