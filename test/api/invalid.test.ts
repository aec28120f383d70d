import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ApiLab, startApiLab } from './lab.ts';

let lab: ApiLab;
beforeAll(async () => {
  lab = await startApiLab();
  expect((await lab.ask('POST', '/api/v1/sources', { url: 'https://one.test/' })).status).toBe(201);
});
afterAll(() => lab.close());

const one = '/api/v1/sources/one_test';
test.each<[method: string, path: string, body: unknown, detail: string]>([
  ['GET', '/api/v1/switches?x=1', undefined, 'there is no parameter "x"'],
  [
    'GET',
    '/api/v1/tokens?names=x',
    undefined,
    'there is no parameter "names"; there are limit, cursor, revoked',
  ],
  ['GET', '/api/v1/tokens?limit=x', undefined, 'the parameter "limit" must be of the type integer'],
  ['GET', '/api/v1/tokens?limit=0', undefined, 'the parameter "limit" must be >= 1'],
  ['GET', '/api/v1/sources?q=', undefined, 'the parameter "q" must not be empty'],
  ['GET', '/api/v1/sources?mode=x', undefined, 'the parameter "mode" must be one of feed, spider, both'],
  [
    'GET',
    '/api/v1/jobs?status=failed,odd',
    undefined,
    'the parameter "status" takes, separated by commas, pending, scheduled, running, paused, completed, failed, cancelled',
  ],
  [
    'GET',
    '/api/v1/sources/UPPER',
    undefined,
    '"slug" in the address must match pattern "^[a-z0-9_]{1,600}$" (short name of a source)',
  ],
  [
    'POST',
    '/api/v1/domains/one.test/block',
    { reason: 'two\nlines' },
    'the field "reason" must be one line without control characters',
  ],
  ['GET', '/api/v1/jobs/x', undefined, '"id" in the address must be of the type integer'],
  ['POST', '/api/v1/tokens', { name: 'x' }, 'the field "role" is missing'],
  [
    'POST',
    '/api/v1/tokens',
    { name: 'x', role: 'boss' },
    'the field "role" must be one of read, write, admin',
  ],
  ['POST', '/api/v1/tokens', [], 'the body must be of the type object'],
  ['POST', '/api/v1/tokens', undefined, 'the body is missing'],
  // A value or null: that it is not null either is no help.
  ['PATCH', one, { rateLimitMs: 'x' }, 'the field "rateLimitMs" must be of the type integer'],
  [
    'PATCH',
    one,
    { settings: { selectors: { titel: 'h1' } } },
    'there is no field "settings.selectors.titel"; there are container, exclude, title, body, author, date, section, image',
  ],
  // One of two forms: the one that was meant.
  [
    'POST',
    '/api/v1/frontier/submit/bulk',
    { urls: [{ url: 'https://one.test/a', priority: 99 }] },
    'the field "urls.0.priority" must be <= 10',
  ],
  ['POST', '/api/v1/frontier/submit/bulk', { urls: [] }, 'the field "urls" must not be empty'],
  [
    'POST',
    `${one}/enable`,
    { reason: 'a'.repeat(2001) },
    'the field "reason" must not have more than 2000 characters',
  ],
])('%s %s %j says what is wrong', async (method, path, body, detail) => {
  expect(await lab.ask(method, path, body)).toMatchObject({
    status: 400,
    body: { code: 'request_invalid', detail },
  });
});
