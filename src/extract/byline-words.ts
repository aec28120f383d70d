// The words that lead to who wrote an article, for lines, for marked elements and for names cut out of them.

/** A first and a last name. */
export const FULL_NAME = /^\p{Lu}[\p{L}\p{M}.'’-]*\s\p{Lu}/u;

/** Two to four words of letters; small ones before capitals inside a word are two things glued together. */
export const PLAIN_NAME =
  /^(?!.*\p{Ll}{2}\p{Lu})\p{Lu}[\p{L}\p{M}.'’-]*(?:\s[\p{L}\p{M}.'’-]+){0,2}\s\p{Lu}[\p{L}\p{M}.'’-]*$/u;

/** A short name in a script without capitals. */
export const CASELESS_NAME = /^\p{Lo}[\p{Lo}\p{M}·・.\s]{1,24}$/u;

/** What was done "by" somebody who wrote it, who may only have put it online, and who did something beside it. */
const WRITTEN = 'written|words|story|text|reported';
const PUT_UP =
  'posted|published|article|authored|compiled|analysis|contributed|opinion|commentary|column|essay|guest post|interview|review|report';
const BESIDE = 'word|reviewed|photos?';
/** "By" where it means nothing else at the start of a line. */
const BY = 'by|von|par|por|بقلم|מאת';
/** "By" that is a common word or a part of names in other languages, by language. */
const BY_IN: ReadonlyMap<string, string> = new Map([
  ['nl', 'door'],
  ['it', 'di'],
  ['sv', 'av'],
  ['nb', 'av'],
  ['nn', 'av'],
  ['no', 'av'],
  ['da', 'af'],
  ['el', 'τη[ςν]|του|των'],
  ['id', 'oleh'],
  ['ms', 'oleh'],
  ['vi', 'bởi'],
  ['ro', 'de'],
  ['ca', 'per'],
]);
/** Labels that stand before a name even without a colon. */
const AUTHOR = 'authors?|author\\(s\\)|contributors?|autor(?:in)?(?:/autor(?:in)?)?';
/** Those that need it. */
const AUTHOR_COLON = [
  'autor(?:a|e|es|i|ka|ky|ki|zy|innen)|auteurs?|redacteur|författare|skribent|forfatter|journalist(?:in|e)?|reporter',
  'kirjoittaja|szerző|írta|yazar|yazan|muhabir|penulis|oleh|tác giả|συντάκτ(?:ης|ρια)|автор(?:ы|и|ка)?|журналист(?:ка)?',
  'корреспондент|кореспондент|الكاتبة?|المؤلفة?|كتبت?|إعداد|نویسنده|כתבה?|लेखक|ผู้เขียน|作者|撰文|記者|记者|取材・文|글',
].join('|');
const TEXT_COLON = [
  'text|texto|texte|testo|tekst|teksti|szöveg|текст|κείμενο|metin|words|story|haber|yazı|文|文字',
  'interview|entrevista|intervista|entretien|интервью|інтерв’ю|reportage|reportaje|reportagem|reportáž|репортаж',
].join('|');
const PICTURES =
  'foto(?:s|graf(?:ie|ía|ia|in)?)?|photos?|photograph(?:y|s)|bild(?:er)?|images?|pictures|video|illustrations?|grafik|kamera|фото|відео|видео|사진|写真|攝影|摄影';
const AND = '[&/+,]|and|und|et|y|e|og|och|en|i|и';
/** "Text und Fotos:" */
const WITH_PICTURES = `(?:\\s?(?:${AND})\\s?(?:${PICTURES}))?`;
const COLON = '\\s?[:：]';
const NO_LETTER = '(?![\\p{L}\\p{M}])';

const LABEL = new RegExp(
  `^(?:(?:(?:${WRITTEN}|${PUT_UP}) by|${BY}|${AUTHOR})\\s*:?|(?:${AUTHOR_COLON})${COLON})$`,
  'iu',
);

/** Whether a line is only the label of the names on the next. */
export function isLabel(text: string): boolean {
  return text.length < MAX_LEAD_CHARS && LABEL.test(text);
}

const MAX_LEAD_CHARS = 40;

// Screen readers are told "By" once more than others.
const LED = new RegExp(
  `^(?:(?:(?:${WRITTEN}|${PUT_UP}) by|${BY})(?:${COLON})?|(?:${AUTHOR})${COLON})\\s?(?:by\\s)?`,
  'iu',
);
const LABELLED = new RegExp(
  `^(?:(?:来源|來源)[：:]\\s?\\S{1,20}\\s)?(?:(?:${AUTHOR_COLON})|(?:${TEXT_COLON})${WITH_PICTURES})(?:${COLON}|(?<=文)\\s?[｜|／/])\\s?`,
  'iu',
);
const LED_IN = new Map(
  [...BY_IN].map(([language, words]) => [language, new RegExp(`^(?:${words})\\s`, 'iu')]),
);

/** What leads to the name at the start of a line; a doubtful lead counts where nothing but names follow. */
export function leadOf(
  line: string,
  languages: readonly string[],
): { chars: number; isSure: boolean } | null {
  const sure = LED.exec(line);
  if (sure !== null) return { chars: sure[0].length, isSure: true };
  for (const pattern of [LABELLED, ...languages.map((language) => LED_IN.get(language))]) {
    const found = pattern?.exec(line);
    if (found != null) return { chars: found[0].length, isSure: false };
  }
  return null;
}

/** "Written by Ada Lund" and "Author Ada Lund", wherever a page says so. */
export const CREDIT = new RegExp(
  `^(?:(?:${WRITTEN}) by:?\\s+|(?:${AUTHOR})\\s?:?\\s|(?:${AUTHOR_COLON})${COLON}\\s?)`,
  'iu',
);

/** What leads to the name inside an element that is marked as the author's. */
export const MARKED_LEAD = new RegExp(
  [
    `^(?:(?:${WRITTEN}|${PUT_UP}|${BESIDE})\\s+(?:and\\s+\\w+\\s+)?by|${BY}|da|${[...BY_IN.values()].join('|')}|autor(?:in|es)?|author|auteur|redacci[oó]n)${NO_LETTER}\\s*:?\\s*`,
    `^(?:(?:${AUTHOR}|${AUTHOR_COLON})|(?:${TEXT_COLON})${WITH_PICTURES})${COLON}\\s*`,
    '^(?:\\S{1,12}\\s)?(?:作者|责任编辑|責任編輯|记者|記者)[：:]\\s*',
    '^文\\s?[｜|／/：:]\\s*(?:\\p{Script=Han}{2,6}\\s(?=\\p{Script=Han}))?',
  ].join('|'),
  'iu',
);

// "unserer Korrespondentin Ada Lund, Bergen"
const OURS =
  /^(?:[Uu]nsere[mnr]?|[Oo]ur|[Nn]otre|[Nn]uestr[oa]|(?:[Dd]al(?:la)? )?[Nn]ostr[oa]|[Oo]nze|[Vv]år|[Vv]ores)\s(?:[\p{L}-]{3,24}\s){1,2}?(?=\p{Lu}[\p{L}.'’-]{1,24}\s\p{Lu})/u;

/** A name without the words by which its paper calls it its own, and the place behind it. */
export function withoutOurs(text: string): string {
  const ours = OURS.exec(text);
  if (ours === null) return text;
  return text.slice(ours[0].length).replace(/,.*$/u, '');
}

const CREDIT_OF_PICTURES = new RegExp(
  `(?<=\\S)\\s?[/|,;·•–—-]?\\s?(?<![\\p{L}\\p{M}])(?:${PICTURES})(?:${COLON}|\\s(?:by|von|par|por|de|di|av|af|door)\\s)`,
  'iu',
);

/** A byline without who took the pictures: "Ada Lund / Foto: Jon Berg". */
export function withoutPictures(text: string): string {
  const at = text.search(CREDIT_OF_PICTURES);
  const before = at < 0 ? '' : text.slice(0, at).replace(MARKED_LEAD, '');
  return CASELESS_NAME.test(before) || /\p{L}{2}[.\s]+\p{Lu}\p{L}/u.test(before) ? text.slice(0, at) : text;
}

// Korean papers name the reporter's trade behind the name, Chinese ones before it.
const KOREAN =
  /^(?:[[(（【][^\])）】]{1,20}[\])）】]\s?)?(\p{Script=Hangul}{2,4})\s(?:\p{Script=Hangul}{0,4}기자|특파원)(?=$|[\s([·=|])/u;
const CHINESE = /^[（(【[]?(?:記者|记者)\s?(\p{Script=Han}{2,4})(?:[／/\s].{0,12})?[)）】\]]?$/u;

/** The name in a line that names the trade of a reporter. */
export function reporterIn(line: string): string | null {
  if (line.length > MAX_REPORTER_CHARS) return null;
  return (KOREAN.exec(line) ?? CHINESE.exec(line))?.[1] ?? null;
}

const MAX_REPORTER_CHARS = 60;
