import { describe, expect, it } from 'vitest';
import { parsePage } from '../html/index.ts';
import { writeCodes } from './block-codes.ts';
import { readContext } from './page-context.ts';
import { mentionsSite, readSiteNames } from './site-mentions.ts';

const page = parsePage(
  '<html><head><meta property="og:site_name" content="Harbour Signal"></head><body></body></html>',
  { url: 'https://www.hsignal.example/a' },
);
const names = readSiteNames(page, readContext(page));

describe('mentionsSite', () => {
  it.each([
    ['Follow Harbour Signal for more.', true],
    ['follow @HarbourSignal', true],
    ['Write to post@hsignal.example today', true],
    ['The harbour signals at night', false],
    ['Harbour. A signal was seen', false],
    ['', false],
  ])('%j: %s', (text, expected) => {
    expect(mentionsSite(names, 0, writeCodes([{ text }]))).toBe(expected);
  });
});
