const norwegian = ['no', 'nb', 'nn'];

/** Languages whose word stems PostgreSQL 15 and later know, by their code. */
export const stemmers: Readonly<Record<string, string>> = {
  ar: 'arabic',
  ca: 'catalan',
  da: 'danish',
  de: 'german',
  el: 'greek',
  en: 'english',
  es: 'spanish',
  eu: 'basque',
  fi: 'finnish',
  fr: 'french',
  ga: 'irish',
  hi: 'hindi',
  hu: 'hungarian',
  hy: 'armenian',
  id: 'indonesian',
  it: 'italian',
  lt: 'lithuanian',
  nb: 'norwegian',
  ne: 'nepali',
  nl: 'dutch',
  nn: 'norwegian',
  no: 'norwegian',
  pt: 'portuguese',
  ro: 'romanian',
  ru: 'russian',
  sr: 'serbian',
  sv: 'swedish',
  ta: 'tamil',
  tr: 'turkish',
  yi: 'yiddish',
};

/** The same as a table l(code, config) for a statement. */
export const stemmerTable = `(VALUES ${Object.entries(stemmers)
  .map(([code, config]) => `('${code}', '${config}'::regconfig)`)
  .join(', ')}) AS l(code, config)`;

/** The codes under which documents in a language are found: Norwegian has three. */
export const codesOf = (language: string): readonly string[] =>
  norwegian.includes(language) ? norwegian : [language];

/** The code in a column of language tags: `pt` of `pt-BR`. */
export const codeIn = (column: string): string => `split_part(${column}, '-', 1)`;
