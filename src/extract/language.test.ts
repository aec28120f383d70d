import { describe, expect, it } from 'vitest';
import { decideLanguage, normalizeLanguage } from './language.ts';

const detectLanguage = (text: string) => decideLanguage(null, undefined, text)?.value ?? null;

const english = 'The pilots of the harbour know that it is not easy to find in the dark.';
const german = 'Der Hafen ist in der Nacht nicht leicht zu finden, und die Lotsen wissen das auch.';
const norwegian =
  'Losene i havnen vet at det ikke er lett å finne den etter at det ble mørkt, og av dem er noen redde.';
const russian = 'Лоцманы порта знают, что ночью его нелегко найти, и они были там уже не раз.';
const chinese = '港口的引水员知道，夜里要找到航道并不容易，所以他们每天晚上都在码头上等着。';

describe('the language of a text', () => {
  it.each([
    [german, 'de'],
    [english, 'en'],
    [norwegian, 'no'],
    ['港の水先案内人は夜でも船を導くことができます。とても静かな夜でした。', 'ja'],
    [chinese, 'zh'],
    [russian, 'ru'],
    ['Лоцмани порту знають, що вночі його нелегко знайти, і вони були там не раз.', 'uk'],
    ['Οι πλοηγοί του λιμανιού ξέρουν ότι τη νύχτα δεν είναι εύκολο να το βρεις.', 'el'],
    ['მფრინავებმა იციან, რომ ღამით ნავსადგურის პოვნა ადვილი არ არის.', 'ka'],
    ['Marubani wa bandari wanajua kwamba si rahisi kuipata usiku, lakini wao ni watu wa kazi hiyo.', 'sw'],
    // Letters with their accents apart.
    [
      'Các hoa tiêu của cảng biết rằng không dễ tìm thấy nó trong đêm, và họ đã ở đó khi trời tối.'.normalize(
        'NFD',
      ),
      'vi',
    ],
    ['ok', null],
    ['Lorem ipsum dolor sit amet, consectetur adipisicing elit, sed do eiusmod tempor.', null],
    ['e a o e i a la e o a i e o la a e a o i e na a e o', null],
  ])('%j', (text, expected) => {
    expect(detectLanguage(text)).toBe(expected);
  });

  it('is not guessed from the script where many words are none of its commonest language', () => {
    expect(detectLanguage('Казан шәһәре халкы җыелды '.repeat(20))).toBeNull();
  });
});

describe('the language of a page', () => {
  it('is the declared one where the text does not say otherwise', () => {
    expect(decideLanguage('en-GB', undefined, english)).toEqual({ value: 'en-GB', from: 'lang' });
    expect(decideLanguage(null, 'en_US', english)).toEqual({ value: 'en-US', from: 'og:locale' });
    expect(decideLanguage('nb', undefined, norwegian)).toEqual({ value: 'nb', from: 'lang' });
    expect(decideLanguage('da', undefined, norwegian)).toEqual({ value: 'da', from: 'lang' });
    expect(
      decideLanguage('sr-Latn', undefined, 'Piloti znaju da je luku noću teško naći i da su u njoj bili.'),
    ).toMatchObject({ value: 'sr-Latn' });
    expect(decideLanguage('zh-TW', undefined, chinese)).toMatchObject({ value: 'zh-TW' });
    expect(decideLanguage('de', undefined, '')).toEqual({ value: 'de', from: 'lang' });
  });

  it('is that of the text where the page declares none or clearly another', () => {
    expect(decideLanguage(null, undefined, german)).toEqual({ value: 'de', from: 'text' });
    expect(decideLanguage('en-US', 'en_US', german)).toEqual({ value: 'de', from: 'text' });
    expect(decideLanguage('de', undefined, english)).toEqual({ value: 'en', from: 'text' });
    expect(decideLanguage('en', undefined, russian)).toEqual({ value: 'ru', from: 'text' });
    expect(decideLanguage('utf-8', undefined, chinese)).toEqual({ value: 'zh', from: 'text' });
  });

  it('stays where a quotation in another language is part of the text', () => {
    expect(decideLanguage('en', undefined, `${english} ${german} ${english} ${english}`)).toMatchObject({
      value: 'en',
    });
  });
});

describe('a language tag', () => {
  it.each([
    ['EN_us', 'en-US'],
    [' pt-br ', 'pt-BR'],
    ['zh-hans-cn', 'zh-Hans'],
    ['iw', 'he'],
    ['es-419', 'es-419'],
    ['fil', 'fil'],
    ['x', null],
    ['x-default', null],
    ['utf-8', null],
    ['english', null],
    ['mul', null],
    [null, null],
  ])('%j', (tag, expected) => {
    expect(normalizeLanguage(tag)).toBe(expected);
  });
});
