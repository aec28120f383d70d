import { expect, test } from 'vitest';
import { loadConfig } from '../config/index.ts';
import { systemClock } from '../telemetry/index.ts';
import { configuredSinks } from './configured.ts';

const store = {
  OUTRIDER_S3_ENDPOINT: 'http://127.0.0.1:9000',
  OUTRIDER_S3_ACCESS_KEY: 'key',
  OUTRIDER_S3_SECRET_KEY: 'secret',
  OUTRIDER_ARCHIVE_BUCKET: 'pages',
};
const namesOf = (env: Record<string, string>): string[] =>
  configuredSinks(loadConfig({ env }).config, { userAgent: 'test', clock: systemClock }).map(
    ({ name }) => name,
  );

test.each([
  ['an archive without pages', { ...store, OUTRIDER_DOCUMENTS_KEEP_HTML: 'none' }, /no page to archive/],
  [
    'pages for an archive that is not there',
    { OUTRIDER_DOCUMENTS_KEEP_HTML: 'archive' },
    /archive.bucket is not set/,
  ],
  [
    'an archive without a store',
    { OUTRIDER_ARCHIVE_BUCKET: 'pages' },
    /s3.endpoint, s3.access_key, s3.secret_key/,
  ],
  ['a receiver without a secret', { OUTRIDER_WEBHOOK_URL: 'http://127.0.0.1/' }, /webhook.secret is missing/],
])('%s is refused with words', (_what, env, said) => {
  expect(() => namesOf(env)).toThrow(said);
});

test.each(['compressed', 'archive'])('pages that are kept as %s can be archived', (keep) => {
  expect(namesOf({ ...store, OUTRIDER_DOCUMENTS_KEEP_HTML: keep })).toEqual(['archive']);
});
