import { describe, expect, it } from 'vitest';
import { type HostRules, hasRules, mostRuleNames, parseHostRules } from './host-rules.ts';
import { identifyUrl } from './identity.ts';

describe('rules as they are stored', () => {
  it.each<[HostRules, HostRules]>([
    [{}, {}],
    [{ keepTrailingSlash: false, stripParameters: [], keepParameters: [] }, {}],
    [{ keepTrailingSlash: true }, { keepTrailingSlash: true }],
    [{ keepParameters: ['Ref', ' ref ', 'id'] }, { keepParameters: ['id', 'ref'] }],
    [{ stripParameters: ['filter[x]', 'größe'] }, { stripParameters: ['filter[x]', 'gr%c3%b6%c3%9fe'] }],
  ])('%o', (given, expected) => {
    expect(parseHostRules(given)).toEqual(expected);
    expect(parseHostRules(parseHostRules(given))).toEqual(expected);
  });

  it.each<[HostRules, string]>([
    [{ keepParameters: [''] }, '"" is not the name of a parameter'],
    [{ keepParameters: ['a=1'] }, '"a=1" is not the name of a parameter'],
    [{ stripParameters: ['utm_*'] }, '"utm_*" is not the name of a parameter'],
    [{ stripParameters: ['two words'] }, '"two words" is not the name of a parameter'],
    [{ stripParameters: ['a\u0000'] }, 'is not the name of a parameter'],
    [{ stripParameters: ['a'.repeat(101)] }, 'is not the name of a parameter'],
    [{ stripParameters: ['ö'.repeat(20)] }, 'is not the name of a parameter'],
    [
      { stripParameters: ['x'], keepParameters: ['X'] },
      'the parameter "x" cannot be stripped and kept at once',
    ],
    [
      { keepParameters: Array.from({ length: mostRuleNames + 1 }, (_, n) => `p${n}`) },
      '51 parameters are named, and 50 are the most',
    ],
  ])('refuses %o', (given, words) => {
    expect(() => parseHostRules(given)).toThrow(words);
  });

  it('finds a name however it is written', () => {
    const rules = parseHostRules({ stripParameters: ['Größe'] });
    for (const spelling of ['größe', 'GRößE', 'gr%C3%B6%c3%9fe']) {
      const identified = identifyUrl(`https://example.com/a?${spelling}=1`, { rules: () => rules });
      expect(identified).toMatchObject({ identity: { key: 'https://example.com/a' } });
    }
  });

  it('says whether there are any', () => {
    expect(hasRules({})).toBe(false);
    expect(hasRules({ keepTrailingSlash: true })).toBe(true);
    expect(hasRules({ keepParameters: ['ref'] })).toBe(true);
  });
});
