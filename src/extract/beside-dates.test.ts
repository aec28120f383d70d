import { describe, expect, it } from 'vitest';
import { isOfChange, isOfCorrection, type Place, tellsOfDay } from './beside-dates.ts';
import { datesInText } from './written-dates.ts';

const tells = (text: string, place: Place = null) => tellsOfDay({ text, place }, datesInText(text, 1)[0]!);

describe('what stands beside a date', () => {
  it.each([
    'May 17, 2024',
    'Ada Lund, Lampstadt, 17 May 2024',
    'By Ada Lund, keeper of the lamps | May 17, 2024 | All about lamps, small ships | 0 comments',
    'by Ada Lund for the harbour office · May 17, 2024',
    'Published on May 17, 2024 in Lamps',
    'May 17, 2024 by Ada Lund, keeper of lamps',
    'May 17, 2024 · 3 min read · 612 words',
    'Von Ada Lund publiziert am 17. Mai 2024',
    'mercredi 17 mai 2024 à 9h15',
    '17. mai 2024 kl. 9.15',
    'Posted in lamps by Ada Lund on 17 May 2024',
    'Last updated on 17 May 2024.',
    'This page was last updated on 17 May 2024.',
    'This entry was posted on 17 May 2024 and is filed under lamps.',
    'Tags: small lamps, big ships Monday, May 17, 2024',
    'ليلى حداد - 17 مايو 2024',
    '홍길동 기자 2024. 5. 17.',
    '2024-05-17#lamps#ships',
  ])('is a byline: %j', (text) => expect(tells(text)).toBe(false));

  it.each([
    'The lamp was lit on 17 May 2024.',
    'The exhibition opens on 17 May 2024',
    'Seit dem 17. Mai 2024 brennt die Lampe.',
    'Le phare a été ouvert le 17 mai 2024.',
    'Notes of the keepers from before 17 May 2024 that nobody has read',
    'May 17, 2024: the keepers light the lamp again',
    'By 17 May 2024 the lamp had been out for a year.',
    'Born 17 May 2001',
    '灯塔于2024年5月17日点亮。',
    'افتتح الرصيف في 17 مايو 2024.',
  ])('is a sentence: %j', (text) => {
    expect(tells(text, 'text')).toBe(true);
    expect(tells(text)).toBe(true);
  });

  it('may be a name in a heading only with a label', () => {
    expect(tells('17 May 2024', 'heading')).toBe(false);
    expect(tells('Published 17 May 2024 at 4:07 PM', 'heading')).toBe(false);
    expect(tells('Harbour Festival, 17 May 2024', 'heading')).toBe(true);
    expect(tells('Harbour Festival, 17 May 2024')).toBe(false);
  });

  it('is a fact in the text, and nothing in a caption', () => {
    expect(tells('Lit: 17 May 2024', 'text')).toBe(true);
    expect(tells('Date: 17 May 2024', 'text')).toBe(false);
    expect(tells('17 May 2024', 'caption')).toBe(true);
  });

  it.each(['a', 'a ', 'A.', 'Ada ', '灯', '灯。', '· ', ': '])('grows with a long line of %j', (unit) => {
    const long = unit.repeat(200_000);
    for (const place of [null, 'text', 'heading'] as const)
      expect(
        typeof tellsOfDay(
          { text: `${long} 17 May 2024 ${long}`, place },
          {
            date: new Date('2024-05-17'),
            raw: '17 May 2024',
            at: long.length + 1,
          },
        ),
      ).toBe('boolean');
  });
});

describe('a date of correction', () => {
  it.each([
    'This article was amended on',
    'Corrected on',
    'Correction:',
    'Berichtigt am',
    'Korrigiert:',
    'Cet article a été corrigé le',
    'Corregido el',
    'Gecorrigeerd op',
    'Исправлено',
    '訂正',
  ])('is one of change: %j', (text) => {
    expect(isOfCorrection(text)).toBe(true);
    expect(isOfChange(text)).toBe(true);
  });

  it('is not every date of change', () => {
    expect(isOfChange('Updated')).toBe(true);
    expect(isOfCorrection('Updated')).toBe(false);
    expect(isOfCorrection('By the Correspondents')).toBe(false);
  });
});
