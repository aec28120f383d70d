import { monthOf, weekdayOf } from './names.ts';

// Months whose name has two words, Arabic ones of the Levant, Kurdish and Irish, and one word for each.
const twoWords: readonly (readonly [RegExp, string])[] = [
  [/كانون الثان[يى]|کانوو?نی دووەم/, 'يناير'],
  [/تشرين ال[أا]ول|تشرینی یەکەم|deireadh fomhair/, 'أكتوبر'],
  [/تشرين الثان[يى]|تشرینی دووەم/, 'نوفمبر'],
  [/كانون ال[أا]ول|کانوو?نی یەکەم/, 'ديسمبر'],
  [/mean fomhair/, 'september'],
];
const anyOfTwoWords = /كانون|تشرين|کانوو?نی|تشرینی|fomhair/;

function oneWord(text: string): string {
  if (!anyOfTwoWords.test(text)) return text;
  return twoWords.reduce((rest, [pattern, word]) => rest.replace(pattern, word), text);
}

/** Puts spaces where writers left them out, names of two words into one, and clock times into the colon form. */
export function separate(text: string): string {
  return (
    oneWord(text)
      .replace(/(^|\s)[dl]['’](?=\p{L})/gu, '$1')
      // Numbers with a dot each have the day first, as those between dots; Serbs and Croats set one behind the year too.
      .replace(/(?<![\d.] ?)(\d{1,2})\. ?(\d{1,2})\. ?(\d{4})\.?(?=[\s,]|$)/, '$1.$2.$3')
      // Central Asia: "17-may, 2024-yil", "2024-ж., 17-май".
      .replace(/(\d{4})[- ]?(?:yil|йил|жыл|ж)\.?(?=[,\s]|$)/, '$1 ')
      .replace(
        /(^|\s)(\d{1,2})-([\p{L}\p{M}]{3,14})(?=[.,،\s]|$)/gu,
        (whole, lead: string, digits: string, word: string) =>
          monthOf(word) === null ? whole : `${lead}${digits} ${word}`,
      )
      .replace(/(?<=[\u0600-\u06ff]) ?\/ ?(?=[\u0600-\u06ff])/, ' ')
      .replace(
        /(\d{1,4})[-/.]?([\p{L}\p{M}]{3,12})\.?[-/]?(?=\d)/gu,
        (whole, digits: string, word: string) => (monthOf(word) === null ? whole : `${digits} ${word} `),
      )
      .replace(/^([\p{L}\p{M}]{3,12})\.?[-/]?(?=\d)/u, (whole, word: string) =>
        monthOf(word) === null && weekdayOf(word) === null ? whole : `${word} `,
      )
      .replace(/ (\d{1,2})t(?=\d{1,2}:\d)/, ' $1 ')
      .replace(/(\d{4}):(?=\d{2}:\d{2}:\d{2})/, '$1 ')
      .replace(/(^|[\s\d])([ap])\. ?m\.?(?=$|[\s,(])/g, '$1$2m')
      .replace(/(^|[\s,])(\d{1,2}) ?([ap]m)(?=$|[\s,])/g, '$1$2:00 $3')
      .replace(
        /(^|[\s,])(\d{1,2}) ?h ?(\d{2})?(?=$|[\s,])/g,
        (_, lead: string, hour: string, minute = '00') => `${lead}${hour}:${minute}`,
      )
      .replace(/(^|\s)(\d{1,2})\.(\d{2}) uhr(?=$|\s)/, '$1$2:$3')
      .replace(/(^|\s)klo?\.? ?(\d{1,2})\.(\d{2})(?=$|\s)/, '$1$2:$3')
  );
}
