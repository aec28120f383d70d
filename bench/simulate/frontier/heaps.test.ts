import fc from 'fast-check';
import { expect, it } from 'vitest';
import { HeapRoom, Heaps } from './heaps.ts';
import { Records } from './records.ts';

it('heaps that share their memory give back what each was given, least key first', () => {
  const step = fc.record({ domain: fc.nat(3), key: fc.nat(50), isPush: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const heaps = new Heaps(new Records(4), new HeapRoom(4));
      const model: number[][] = [[], [], [], []];
      for (const [nth, { domain, key, isPush }] of steps.entries()) {
        const keys = model[domain]!;
        if (isPush || keys.length === 0) {
          heaps.push(domain, key, key * 1000 + nth);
          keys.push(key);
          keys.sort((a, b) => a - b);
        } else {
          heaps.drop(domain);
          keys.shift();
        }
        expect(heaps.isEmpty(domain)).toBe(keys.length === 0);
        if (keys.length === 0) continue;
        expect(heaps.key(domain)).toBe(keys[0]);
        expect(Math.floor(heaps.id(domain) / 1000)).toBe(keys[0]);
      }
    }),
  );
});
