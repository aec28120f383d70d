// The commonest short words of each language; enough to tell apart a paragraph or two.
const WORDS: Record<string, string> = {
  en: 'the of and to in is that for it was with as his on be at by this had not are but from or have an they which you were her all she there would their',
  de: 'der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er hat dass sie nach wird bei einer um am sind noch wie',
  fr: 'de la le et les des en un du une que est pour qui dans a par plus pas au sur ne se ce il sont la avec son aux mais cette ou été leur ses',
  es: 'de la que el en y a los del se las por un para con no una su al lo como más pero sus le ya o este sí porque esta entre cuando muy sin sobre',
  it: 'di e il la che in a per un è del non una della con si da le dei al nel alla sono anche ha più come gli dal ma o i delle nella',
  pt: 'de a o que e do da em um para com não uma os no se na por mais as dos como mas ao ele das à seu sua ou quando muito nos já',
  nl: 'de van het een en in is dat op te zijn met voor niet aan er die om ook als dan maar bij door over nog naar uit tot je werd worden',
  sv: 'och att det som en på är av för med till den har de inte om ett han men var jag sig från vi så kan när år under också',
  da: 'og at det er en til på som med for af den har de ikke der et han men var jeg sig fra vi så kan når år også efter blev',
  no: 'og i det er en til på som med for av den har de ikke at et han men var jeg seg fra vi så kan når år også etter ble',
  fi: 'ja on ei se että oli hän joka mutta ovat kun niin myös sen kuin jos ole sitä mukaan voi nyt vain jo vielä',
  pl: 'i w na z się do nie że jest o to jak po od za ale dla przez tym są przy oraz był tego jego tylko może już',
  cs: 'a se v na je že s z do o to i k za si pro by ale jako jsou jeho tak po od který také jsem byl jen už',
  tr: 've bir bu da de için ile olarak çok daha olan gibi sonra kadar ne var ama o en ya olduğu her',
  ro: 'de și în a la cu pe că o un este din nu care mai pentru se sunt au fost ce dar prin sau ca lui',
  hu: 'a az és hogy nem is egy ez volt de meg csak már mint el ki vagy ha még van azt sem',
  id: 'yang dan di dengan untuk pada dari ini dalam tidak itu adalah akan ke juga oleh sebagai telah ada karena bisa',
  vi: 'và của là có trong cho được không với các một người những đã khi này từ ra đến về',
};

const index = new Map<string, string[]>();
for (const [language, words] of Object.entries(WORDS)) {
  for (const word of new Set(words.split(' '))) {
    const list = index.get(word);
    if (list === undefined) index.set(word, [language]);
    else list.push(language);
  }
}

const SCRIPTS: [RegExp, string][] = [
  [/[\u3040-\u30ff]/g, 'ja'],
  [/[\uac00-\ud7af]/g, 'ko'],
  [/[\u4e00-\u9fff]/g, 'zh'],
  [/[\u0590-\u05ff]/g, 'he'],
  [/[\u0600-\u06ff]/g, 'ar'],
  [/[\u0370-\u03ff]/g, 'el'],
  [/[\u0e00-\u0e7f]/g, 'th'],
  [/[\u0900-\u097f]/g, 'hi'],
  [/[\u0980-\u09ff]/g, 'bn'],
  [/[\u0400-\u04ff]/g, 'ru'],
];

/** The language of a text by its script and commonest words, or null when it is too short to tell. */
export function detectLanguage(text: string): string | null {
  const sample = text.slice(0, 4_000).toLowerCase();
  const letters = sample.match(/\p{L}/gu)?.length ?? 0;
  if (letters < 20) return null;
  for (const [script, language] of SCRIPTS) {
    const count = sample.match(script)?.length ?? 0;
    // Kana among Chinese characters means Japanese, hence the lower bar for the first.
    if (count > letters * (language === 'ja' ? 0.05 : 0.3)) {
      if (language === 'ru' && /[іїєґ]/.test(sample)) return 'uk';
      if (language === 'ar' && /[پچژگ]/.test(sample)) return 'fa';
      return language;
    }
  }
  const counts = new Map<string, number>();
  const words = sample.match(/\p{L}+/gu) ?? [];
  for (const word of words) {
    for (const language of index.get(word) ?? []) counts.set(language, (counts.get(language) ?? 0) + 1);
  }
  const [first, second] = [...counts].sort((a, b) => b[1] - a[1]);
  if (first === undefined || first[1] < 3 || first[1] / words.length < 0.08) return null;
  return second !== undefined && first[1] - second[1] < 2 ? null : first[0];
}

/** A declared language tag in its common form (`en`, `pt-BR`), or null when it is none. */
export function normalizeLanguage(tag: string | null | undefined): string | null {
  const match = /^\s*([a-z]{2,3})(?:[-_]([a-z]{2}|\d{3}|[a-z]{4}))?\b/i.exec(tag ?? '');
  if (match === null) return null;
  const region = match[2];
  return (
    match[1]!.toLowerCase() +
    (region === undefined ? '' : `-${region.length === 2 ? region.toUpperCase() : region}`)
  );
}
