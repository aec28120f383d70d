import { describe, expect, it } from 'vitest';
import { decideRefresh, type RefreshOptions } from './refresh.ts';

const options: RefreshOptions = { firstSeconds: 1000, minSeconds: 100, maxSeconds: 5000, adaptive: true };

describe('the time until a page is looked at again', () => {
  it('begins with the configured one', () => {
    expect(decideRefresh(null, false, options)).toBe(1000);
    expect(decideRefresh(null, true, options)).toBe(1000);
  });

  it('grows when nothing changed and shrinks when something did, within its bounds', () => {
    expect(decideRefresh(1000, false, options)).toBeGreaterThan(1000);
    expect(decideRefresh(1000, true, options)).toBeLessThan(1000);
    expect(decideRefresh(4900, false, options)).toBe(5000);
    expect(decideRefresh(101, true, options)).toBe(100);
  });

  it('stays the same while adaptive intervals are off', () => {
    expect(decideRefresh(100, false, { ...options, adaptive: false })).toBe(1000);
    expect(decideRefresh(5000, true, { ...options, adaptive: false })).toBe(1000);
  });
});
