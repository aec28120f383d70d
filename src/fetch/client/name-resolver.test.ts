import { describe, expect, test } from 'vitest';
import { createNameResolver } from './name-resolver.ts';

const code = (name: string): Error => Object.assign(new Error(`query ${name} x.example`), { code: name });

describe('cache', () => {
  test('an answer is kept for its time, asked once for many, and given without a promise', async () => {
    let at = 0;
    let asked = 0;
    const names = createNameResolver({
      now: () => at,
      lookup: async () => {
        asked += 1;
        return ['192.0.2.1', 'nonsense', '2001:db8::1'];
      },
    });
    const answers = await Promise.all([names.resolve('a.example'), names.resolve('a.example')]);
    expect(answers[0]).toEqual({ outcome: 'resolved', addresses: ['192.0.2.1', '2001:db8::1'] });
    expect(asked).toBe(1);
    at = 59_000;
    expect(names.resolve('a.example')).not.toBeInstanceOf(Promise);
    at = 61_000;
    await names.resolve('a.example');
    expect(asked).toBe(2);
  });

  test('a failure is kept for less', async () => {
    let at = 0;
    let asked = 0;
    const names = createNameResolver({
      now: () => at,
      lookup: () => {
        asked += 1;
        return Promise.reject(code('ENOTFOUND'));
      },
    });
    expect(await names.resolve('a.example')).toEqual({
      outcome: 'failed',
      detail: expect.stringMatching(/^ENOTFOUND/),
    });
    at = 9000;
    await names.resolve('a.example');
    expect(asked).toBe(1);
    at = 11_000;
    await names.resolve('a.example');
    expect(asked).toBe(2);
  });

  test('forget asks again', async () => {
    let asked = 0;
    const names = createNameResolver({
      lookup: async () => {
        asked += 1;
        return [`192.0.2.${asked}`];
      },
    });
    await names.resolve('a.example');
    names.forget('a.example');
    expect(await names.resolve('a.example')).toMatchObject({ addresses: ['192.0.2.2'] });
  });

  test('it holds no more than its cap, the oldest go first', async () => {
    let asked = 0;
    const names = createNameResolver({
      maxEntries: 3,
      lookup: async () => {
        asked += 1;
        return ['192.0.2.1'];
      },
    });
    for (const host of ['a', 'b', 'c', 'd']) await names.resolve(host);
    expect(names.size()).toBe(3);
    await names.resolve('d');
    expect(asked).toBe(4);
    await names.resolve('a');
    expect(asked).toBe(5);
  });
});

describe('lookups', () => {
  test('only so many at once', async () => {
    const waiting: (() => void)[] = [];
    let most = 0;
    const names = createNameResolver({
      maxConcurrent: 2,
      lookup: () =>
        new Promise((resolve) => {
          most = Math.max(
            most,
            waiting.push(() => resolve(['192.0.2.1'])),
          );
          if (waiting.length === 2) for (const answer of waiting.splice(0)) answer();
        }),
    });
    const answers = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((host) => names.resolve(host)));
    expect(answers.every((answer) => answer.outcome === 'resolved')).toBe(true);
    expect(most).toBe(2);
  });

  test('one that never answers is given up and frees its place', async () => {
    const names = createNameResolver({
      timeoutMs: 5,
      maxConcurrent: 1,
      lookup: (host) => (host === 'dead' ? new Promise(() => undefined) : Promise.resolve(['192.0.2.1'])),
    });
    const [dead, alive] = await Promise.all([names.resolve('dead'), names.resolve('alive')]);
    expect(dead).toEqual({ outcome: 'failed', detail: expect.stringMatching(/^ETIMEOUT/) });
    expect(alive).toMatchObject({ outcome: 'resolved' });
  });

  test.each([[[]], [['x', '1.2.3']]])('an answer without an address (%j) is a failure', async (answer) => {
    const names = createNameResolver({ lookup: async () => answer });
    expect(await names.resolve('a.example')).toEqual({
      outcome: 'failed',
      detail: expect.stringMatching(/^ENODATA/),
    });
  });

  test('a flood of addresses is cut', async () => {
    const names = createNameResolver({
      lookup: async () => Array.from({ length: 500 }, (_, i) => `192.0.2.${i % 250}`),
    });
    const answer = await names.resolve('a.example');
    expect(answer.outcome === 'resolved' && answer.addresses.length).toBe(16);
  });

  test('localhost stays on this machine', async () => {
    const names = createNameResolver();
    const answers = await Promise.all([names.resolve('localhost'), names.resolve('a.localhost')]);
    for (const answer of answers)
      expect(answer.outcome === 'resolved' && answer.addresses[0]).toMatch(/^(127\.|::1)/);
    names.close();
  });
});
