import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dateInScripts } from './script-dates.ts';

describe('dates in script data', () => {
  it.each([
    ['{"datePublished":"2024-05-17T10:00:00Z"}', '2024-05-17'],
    ['"date_published": "2024-05-17"', '2024-05-17'],
    ["publishedAt: '2024-05-17'", '2024-05-17'],
    ['{\\"published_at\\":\\"2024-05-17 08:00:00\\"}', '2024-05-17'],
    ['{&quot;publishDate&quot;:&quot;May 17, 2024&quot;}', '2024-05-17'],
    ['window.x={firstPublishedDate : "2024-05-17"}', '2024-05-17'],
    ['"publicationDate":"17 May 2024"', '2024-05-17'],
    ['"published":"2024-05-17"', '2024-05-17'],
    ['function f(a){a.publishedAt=a.b}; {"publishedAt":"2024-05-17"}', '2024-05-17'],
    ['"datePublished":"2024-05-17","related":[{"datePublished":"2023-01-01"}]', '2024-05-17'],
    ['"unpublishedAt":"2024-05-17"', null],
    ['"publisherId":"20240517"', null],
    ['"publishedAt":null', null],
    ['"isPublished":"2024-05-17"', null],
    ['"dateModified":"2024-05-17"', null],
    ['ublished":"2024-05-17"', null],
    ['', null],
  ])('%j is of %s', (html, expected) => {
    expect(dateInScripts(html)?.date.toISOString().slice(0, 10) ?? null).toBe(expected);
  });

  it('never throws, and ends on a page full of names', () => {
    fc.assert(fc.property(fc.string(), (text) => dateInScripts(`{"datePublished":"${text}`) !== undefined));
    expect(dateInScripts('"publishedAt":"never"'.repeat(100_000))).toBeNull();
  });
});
