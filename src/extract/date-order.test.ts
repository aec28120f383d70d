import { describe, expect, it } from 'vitest';
import { noHabits } from '../dates/index.ts';
import { withOrderOfPage } from './date-order.ts';

const placed = (texts: string[]) => texts.map((text) => ({ text, place: null }));
const orderOf = (...texts: string[]) =>
  withOrderOfPage({ headlineIndex: -1, lines: [], shortLines: placed(texts), habits: noHabits }, []).habits
    .order;

describe('the order in which a page writes dates', () => {
  it('is that of a date which has only one', () => {
    expect(orderOf('02/12/2025', '25/11/2025')).toBe('dmy');
    expect(orderOf('02/12/2025', '11/25/2025')).toBe('mdy');
    expect(orderOf('02/12/2025', '11/25/2025', '25/11/2025')).toBeNull();
  });

  it('is the one by which the page gives the same day in words or for machines', () => {
    expect(orderOf('02-12-2025', 'December 2, 2025')).toBe('dmy');
    expect(orderOf('02-12-2025', '2025-02-12')).toBe('mdy');
    expect(orderOf('02-12-2025', '2025-02-12', 'December 2, 2025')).toBeNull();
    expect(orderOf('02-12-2025', 'March 7, 2024')).toBeNull();
  });

  it('is not asked for where no date leaves a doubt, and that of the language stays', () => {
    expect(orderOf('25/11/2025', '8/8/2025')).toBeNull();
    const near = { headlineIndex: -1, lines: [], shortLines: placed(['02/12/2025', '11/25/2025']) };
    expect(withOrderOfPage({ ...near, habits: { ...noHabits, order: 'dmy' } }, []).habits.order).toBe('dmy');
  });

  it('is looked for in the first lines only, however many there are', () => {
    const lines = Array.from({ length: 20_000 }, () => '01/02/2025 '.repeat(14));
    expect(orderOf(...lines, '25/11/2025')).toBeNull();
    expect(orderOf('25/11/2025', ...lines)).toBe('dmy');
  });
});
