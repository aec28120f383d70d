import { expect, test } from 'vitest';
import { hashNames } from './name-hashes.ts';

const hashesOf = (name: string) => {
  const codes = Uint16Array.from(name, (letter) => letter.charCodeAt(0));
  return hashNames(codes, 0, codes.length);
};

test('a name and its words have each their own', () => {
  expect(hashesOf('postBody')).toHaveLength(3);
  expect(hashesOf('post-body')).toHaveLength(3);
  expect(hashesOf('postBody').slice(0, 2)).toEqual(hashesOf('post-body').slice(0, 2));
  expect(hashesOf('postBody')[2]).not.toBe(hashesOf('post-body')[2]);
  expect(new Set(hashesOf('postBody entry')).size).toBe(5);
});

test('a word is told from the name that it is alone', () => {
  const [word, whole] = hashesOf('story');
  expect(word).not.toBe(whole);
});

test('numbers are one sign, whatever their length, and single letters no word', () => {
  expect(hashesOf('item-7')).toEqual(hashesOf('item-1234'));
  expect(hashesOf('item-7')).not.toEqual(hashesOf('item'));
  expect(hashesOf('a b')).toHaveLength(2);
  expect(hashesOf('H1Title')).toHaveLength(2);
});

test('spaces of any kind and number part names; nothing gives nothing', () => {
  expect(hashesOf('  one\n\ttwo ')).toEqual(hashesOf('one two'));
  expect(hashesOf('')).toEqual([]);
  expect(hashesOf(' \n ')).toEqual([]);
});
