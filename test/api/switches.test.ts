import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadSwitches, switchNames } from '../../src/switches/index.ts';
import { createChecked, hostileTexts, hostileValues } from './checked.ts';
import { type ApiLab, startApiLab } from './lab.ts';

let lab: ApiLab;
let ask: ApiLab['ask'];
beforeAll(async () => {
  lab = await startApiLab({
    settings: {
      'webhook.url': 'https://hooks.example/',
      'webhook.secret': 'a planted secret of the webhook',
      'fetch.proxies': ['http://me:planted@proxy.example:3128'],
    },
  });
  ask = await createChecked(lab);
});
afterAll(() => lab.close());

test('a switch is set, and who did it is known', async () => {
  expect((await ask('GET', '/api/v1/switches')).body.items).toEqual(
    switchNames.map((name) => ({ name, on: true, changedAt: null, changedBy: null })),
  );
  expect((await ask('PUT', '/api/v1/switches/polling', { on: false })).body).toMatchObject({
    name: 'polling',
    on: false,
    changedBy: 'token:test admin',
  });
  expect((await loadSwitches(lab.database.pool)).polling).toBe(false);
  expect((await ask('GET', '/api/v1/audit')).body.items).toMatchObject([
    { actor: 'token:test admin', action: 'switch', subject: 'polling', detail: { on: false } },
  ]);
  await ask('PUT', '/api/v1/switches/polling', { on: false, reason: 'the disk is full' });
  expect((await ask('GET', '/api/v1/audit')).body.items[0].detail).toEqual({
    on: false,
    reason: 'the disk is full',
  });
  expect((await ask('PUT', '/api/v1/switches/gravity', { on: false })).status).toBe(400);
  for (const body of [{}, { on: 'off' }, { on: true, why: 'x' }])
    expect((await ask('PUT', '/api/v1/switches/polling', body)).status).toBe(400);
});

test('the audit is read back page by page', async () => {
  for (let n = 0; n < 12; n += 1) await ask('PUT', '/api/v1/switches/spider', { on: n % 2 === 0 });
  const ids: number[] = [];
  let cursor: string | null = null;
  do {
    const { body }: { body: { items: { id: string }[]; cursor: string | null } } = await ask(
      'GET',
      `/api/v1/audit?limit=5${cursor === null ? '' : `&cursor=${cursor}`}`,
    );
    ids.push(...body.items.map((item) => Number(item.id)));
    cursor = body.cursor;
  } while (cursor !== null);
  expect(ids).toEqual(Array.from({ length: 14 }, (_, n) => ids[0]! - n));
});

test('the settings are told with their origins and without their secrets', async () => {
  const { body } = await ask('GET', '/api/v1/config');
  const of = (key: string) => body.items.find((item: { key: string }) => item.key === key);
  expect(of('api.port')).toMatchObject({ value: 0, origin: 'command line' });
  expect(of('fetch.product_token')).toMatchObject({
    origin: 'default',
    default: 'Outrider',
    form: 'name of letters, _ and -',
    description: 'Name robots.txt rules address us by.',
    secret: false,
  });
  expect(of('webhook.secret')).toMatchObject({ value: '********', origin: 'command line', secret: true });
  expect(JSON.stringify(body)).not.toContain('planted');
});

test('whatever comes, nothing breaks', async () => {
  for (const value of hostileValues) await ask('PUT', '/api/v1/switches/spider', { on: value });
  for (const text of hostileTexts) {
    const part = new URLSearchParams({ v: text }).toString().slice(2);
    for (const name of ['cursor', 'limit', 'other']) await ask('GET', `/api/v1/audit?${name}=${part}`);
    await ask('GET', `/api/v1/config?${part}=1`);
    if (part !== '') await ask('PUT', `/api/v1/switches/${part}`, { on: true });
  }
});
