import { expect, test } from 'vitest';
import { checkImportList, readImportList } from './import-list.ts';

test.each([
  ['nothing', {}, 'metadata.text'],
  ['no text', { format: 'csv', text: '   ' }, 'metadata.text'],
  ['no format', { text: 'https://one.example/' }, 'metadata.format'],
  ['an unknown format', { format: 'yaml', text: 'a: b' }, 'metadata.format'],
  ['too much', { format: 'lines', text: 'x'.repeat(1_000_001) }, 'larger than'],
  ['what is no list', { format: 'json', text: '{"not": "a list"' }, 'nothing in the list'],
])('refuses %s', async (_what, metadata, words) => {
  const refusal = checkImportList(metadata);
  await expect(refusal).rejects.toMatchObject({ code: 'job_import_invalid', httpStatus: 422 });
  await expect(refusal).rejects.toThrow(words);
});

test('takes a list with one line that can be used', async () => {
  const list = await checkImportList({ format: 'lines', text: '::\nhttps://one.example/\n', more: 1 });
  const outcomes: string[] = [];
  for await (const entry of readImportList(list)) outcomes.push(entry.outcome);
  expect(outcomes.at(-1)).not.toBe('bad');
});
