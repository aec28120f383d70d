import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ApiLab, startApiLab } from './lab.ts';

let lab: ApiLab;
beforeAll(async () => {
  lab = await startApiLab();
});
afterAll(() => lab.close());

const send = (method: string, path: string): Promise<Response> =>
  fetch(`${lab.address}${path}`, { method, headers: lab.headersOf('admin') });

test.each<[method: string, path: string, allowed: string]>([
  ['PUT', '/api/v1/sources/one_test', 'DELETE, GET, HEAD, OPTIONS, PATCH'],
  ['DELETE', '/api/v1/sources', 'GET, HEAD, OPTIONS, POST'],
  ['GET', '/api/v1/jobs/7/pause?x=1', 'OPTIONS, POST'],
  ['POST', '/api/v1/overview', 'GET, HEAD, OPTIONS'],
  // A fixed word and a name in the same place: what either takes.
  ['PUT', '/api/v1/frontier/stats', 'DELETE, GET, HEAD, OPTIONS, PATCH'],
  ['PATCH', '/api/v1/%73ources', 'GET, HEAD, OPTIONS, POST'],
  ['POST', '/api/v1/domains/a%2Fb/robots', 'GET, HEAD, OPTIONS'],
  ['PUT', '/healthz', 'GET, HEAD, OPTIONS'],
  ['PUT', '/websub/abc', 'GET, HEAD, OPTIONS, POST'],
  ['POST', '/jobs/7', 'GET, HEAD, OPTIONS'],
])('%s %s is told what the address takes', async (method, path, allowed) => {
  const response = await send(method, path);
  expect([response.status, response.headers.get('allow')]).toEqual([405, allowed]);
  expect(await response.json()).toMatchObject({ code: 'method_not_allowed', status: 405 });
});

test('OPTIONS answers what an address takes, and lets no other site in', async () => {
  const response = await send('OPTIONS', '/api/v1/channels/7');
  expect([response.status, response.headers.get('allow')]).toEqual([
    204,
    'DELETE, GET, HEAD, OPTIONS, PATCH',
  ]);
  expect(response.headers.get('access-control-allow-origin')).toBeNull();
});

test.each([
  ['PUT', '/api/v1/nowhere'],
  ['OPTIONS', '/api/v1/nowhere'],
  ['PUT', '/api/v1/sources/'],
  ['PUT', '/api/v1/sources/a/b/c'],
  ['PUT', '/api/v1/%ff'],
])('%s %s: nothing is there whatever the method', async (method, path) => {
  const { status } = await send(method, path);
  expect([400, 404]).toContain(status);
});
