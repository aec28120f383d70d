import { type Answer, addressOf, type Input } from '../../api/client.ts';
import { readProblem } from '../../api/problem.ts';

/** What an import did, or would do. */
export type Report = Answer<'importSources'>;
/** How a list is written. */
export type ListFormat = NonNullable<NonNullable<Input<'importSources'>['query']>['format']>;

/** The formats with what people call them. */
export const formats: readonly { format: ListFormat; label: string; about: string }[] = [
  { format: 'opml', label: 'OPML', about: 'what feed readers exchange' },
  { format: 'csv', label: 'CSV', about: 'for spreadsheets' },
  { format: 'json', label: 'JSON', about: 'with every setting' },
  { format: 'ndjson', label: 'NDJSON', about: 'one source per line' },
  { format: 'lines', label: 'Lines', about: 'addresses only' },
];

/** As many bytes as the server takes at once. */
export const mostBytes = 32 * 1024 * 1024;

/** Sends a list as it is: a file is sent by its bytes, for the server knows more encodings than UTF-8. */
export async function importList(
  list: string | File,
  query: NonNullable<Input<'importSources'>['query']>,
): Promise<Report> {
  const response = await fetch(addressOf('importSources', { query, text: '' }), {
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: list,
  });
  if (!response.ok) throw await readProblem(response);
  return (await response.json()) as Report;
}
