import { describe, expect, it } from 'vitest';
import { isLayoutLine } from './layout-lines.ts';

describe('isLayoutLine', () => {
  it.each([
    ['ADVERTISEMENT', true],
    ['— Advertisement —', true],
    ['Publicité', true],
    ['Story continues below advertisement', true],
    ['Table of Contents:', true],
    ['Image 2 of 5', true],
    ['Loading…', true],
    ['Advertisements of 1870', false],
    ['Anzeigepflicht', false],
    ['Share', false],
    ['Loading the lamps', false],
    ['', false],
  ])('%j: %s', (text, expected) => {
    expect(isLayoutLine({ text, words: text.split(' ').length })).toBe(expected);
  });
});
