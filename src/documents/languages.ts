/** Languages whose word stems PostgreSQL knows, by their code. */
export const stemmers: Readonly<Record<string, string>> = {
  en: 'english',
  de: 'german',
  fr: 'french',
  es: 'spanish',
  sv: 'swedish',
  ru: 'russian',
  it: 'italian',
  nl: 'dutch',
  pt: 'portuguese',
  da: 'danish',
  fi: 'finnish',
  no: 'norwegian',
};

/** The same as a table l(code, config) for a statement. */
export const stemmerTable = `(VALUES ${Object.entries(stemmers)
  .map(([code, config]) => `('${code}', '${config}'::regconfig)`)
  .join(', ')}) AS l(code, config)`;
