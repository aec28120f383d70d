import { expect, it } from 'vitest';
import { makeResponse, makeSettings } from '../../test/setup/page-response.ts';
import { sampleSelectors } from './selector-sample.ts';

const paragraph = '<p>The ferry to the island leaves every hour until the end of the summer.</p>';
const html = `<html><head><meta name="who" content="Ada Lovelace"></head><body><h1>Ferry</h1><i class="empty"></i>
  <time datetime="2026-11-02T10:00:00Z">on Monday</time><b class="odd">some day</b><img class="lead" src="/boat.jpg">
  <div class="text">${paragraph.repeat(12)}</div></body></html>`;
const sample = (selectors: object) =>
  sampleSelectors(makeResponse(html), makeSettings({ settings: { selectors } })).selectors;

it('tells for each field what its selector gives, from where the field is read', () => {
  expect(
    sample({
      title: 'h1',
      author: 'meta[name=who]',
      date: 'time',
      image: '.lead',
      body: '.text',
      container: 'body',
    }),
  ).toMatchObject([
    { field: 'title', outcome: 'matched', matches: 1, texts: ['Ferry'], message: null },
    { field: 'author', texts: ['Ada Lovelace'], message: null },
    { field: 'date', texts: ['2026-11-02T10:00:00Z'], message: null },
    { field: 'image', texts: ['https://paper.example/boat.jpg'], message: null },
    { field: 'body', texts: [expect.stringMatching(/^The ferry.{290}/)], message: null },
    { field: 'container', outcome: 'matched', message: null },
  ]);
  expect(sample({ body: '.text p' })).toMatchObject([{ matches: 12, texts: { length: 5 } }]);
});

it('says in words what is wrong', () => {
  expect(
    sample({ title: '.empty', date: '.odd', author: 'h9', body: ':::', section: 'a:unheard-of' }),
  ).toMatchObject([
    { outcome: 'no_value', message: 'it matches, but no title can be read from that' },
    { outcome: 'no_value', texts: ['some day'], message: 'it matches, but no date can be read from that' },
    { outcome: 'no_match', matches: 0, texts: [], message: 'no element of the page matches it' },
    {
      outcome: 'invalid_selector',
      message: expect.stringMatching(/^this is no CSS selector that can be read: ./),
    },
    { outcome: 'invalid_selector', message: expect.stringMatching(/unheard-of/) },
  ]);
});

it('leaves out fields that were left empty', () => {
  expect(sample({ title: 'h1', body: '', date: '  ' }).map((one) => one.field)).toEqual(['title']);
});
