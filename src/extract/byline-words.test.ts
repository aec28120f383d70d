import { describe, expect, it } from 'vitest';
import { isLabel, leadOf, reporterIn, withoutOurs, withoutPictures } from './byline-words.ts';

const rest = (line: string, ...languages: string[]) => {
  const lead = leadOf(line, languages);
  return lead === null ? null : line.slice(lead.chars);
};

describe('what leads to a name', () => {
  it.each([
    'By Ada Lund',
    'by: Ada Lund',
    'By by Ada Lund',
    'Byby Ada Lund',
    'Von: Ada Lund',
    'Words by Ada Lund',
    'Analysis by Ada Lund',
    'Author: Ada Lund',
    'Autorka: Ada Lund',
    'Автор: Ada Lund',
    'Text: Ada Lund',
    'Text und Fotos: Ada Lund',
    'Texto y fotos: Ada Lund',
    'Text/Foto: Ada Lund',
    'Testo: Ada Lund',
    'Interview: Ada Lund',
    'Haber : Ada Lund',
    '文／Ada Lund',
    '作者：Ada Lund',
    'بقلم Ada Lund',
    'מאת: Ada Lund',
  ])('%j', (line) => expect(rest(line)).toBe('Ada Lund'));

  it.each([
    ['Door Ada Lund', 'nl'],
    ['di Ada Lund', 'it'],
    ['Av Ada Lund', 'sv'],
    ['Av Ada Lund', 'nb'],
    ['Af Ada Lund', 'da'],
    ['Της Ada Lund', 'el'],
  ])('%j only in its language', (line, language) => {
    expect(rest(line, language)).toBe('Ada Lund');
    expect(rest(line)).toBeNull();
  });

  it.each(['Text of the law', 'Foto: Jon Berg', 'Authors and readers', 'Words'])('is not in %j', (line) =>
    expect(rest(line, 'en')).toBeNull(),
  );

  it('may be a label alone', () => {
    for (const line of ['Article by', 'Author(s)', 'By:', 'Автор:']) expect(isLabel(line)).toBe(true);
    for (const line of ['Text', 'Reporter', 'By the way']) expect(isLabel(line)).toBe(false);
  });
});

it.each([
  ['김민수 기자', '김민수'],
  ['김민수 선임기자 minsu@post.example', '김민수'],
  ['記者王小明／台北報導', '王小明'],
  ['（记者 王小明）', '王小明'],
  ['김민수 기자는 등대를 보았다', null],
  ['記者會今天在港口的燈塔舉行', null],
])('the reporter of %j is %j', (line, expected) => expect(reporterIn(line)).toBe(expected));

it.each([
  ['unserer Korrespondentin Ada Lund, Bergen', 'Ada Lund'],
  ['notre envoyée spéciale Ada Lund', 'Ada Lund'],
  ['our correspondent Ada Lund', 'Ada Lund'],
  ['our readers', 'our readers'],
])('%j without what the paper calls its own is %j', (text, expected) =>
  expect(withoutOurs(text)).toBe(expected),
);

it.each([
  ['Ada Lund / Foto: Jon Berg', 'Ada Lund'],
  ['Text: Ada Lund, Bilder: Jon Berg', 'Text: Ada Lund'],
  ['Story by Ada Lund; photos by Jon Berg', 'Story by Ada Lund'],
  ['Text und Fotos: Ada Lund', 'Text und Fotos: Ada Lund'],
  ['Story and photos by Ada Lund', 'Story and photos by Ada Lund'],
  ['Foto: Jon Berg', 'Foto: Jon Berg'],
  ['王小明 攝影：山田花子', '王小明'],
])('%j without who took the pictures is %j', (text, expected) =>
  expect(withoutPictures(text)).toBe(expected),
);
