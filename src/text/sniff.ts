// Which legacy encoding undeclared bytes are in. Browsers guess by locale; we have only the bytes, so: the page's
// own lang attribute first, then multi-byte encodings whose structure fits, then Cyrillic by letter frequency.

const sampleBytes = 64 * 1024;

// The fallback encodings of the HTML standard ("determining the character encoding", step 9), by language.
const byLanguage = new Map<string, string>([
  ...pairs('ru bg uk be sr mk kk', 'windows-1251'),
  ...pairs('pl cs sk hu sl hr ro bs sq', 'windows-1250'),
  ...pairs('el', 'windows-1253'),
  ...pairs('tr az', 'windows-1254'),
  ...pairs('he iw', 'windows-1255'),
  ...pairs('ar fa ur', 'windows-1256'),
  ...pairs('et lv lt', 'windows-1257'),
  ...pairs('vi', 'windows-1258'),
  ...pairs('th', 'windows-874'),
  ...pairs('ja', 'shift_jis'),
  ...pairs('ko', 'euc-kr'),
  ...pairs('zh', 'gb18030'),
]);

function pairs(languages: string, charset: string): [string, string][] {
  return languages.split(' ').map((language) => [language, charset]);
}

/** The likeliest legacy encoding of bytes that are not UTF-8; windows-1252 when nothing speaks for another. */
export function sniffLegacy(bytes: Uint8Array): string {
  const sample = bytes.subarray(0, sampleBytes);
  if (hasJapaneseEscape(sample)) return 'iso-2022-jp';
  const multibyte = bestMultibyte(sample);
  if (multibyte !== null) return multibyte;
  const head = Buffer.from(sample.subarray(0, 4096)).toString('latin1');
  const language = /(?:\blang\s*=\s*["']?|<language>\s*)([a-z]{2})/i.exec(head)?.[1]?.toLowerCase();
  const hinted = language === undefined ? undefined : byLanguage.get(language);
  const cyrillic = bestCyrillic(sample);
  if (cyrillic !== null && (hinted === undefined || hinted === 'windows-1251')) return cyrillic;
  return hinted !== undefined && !/^(?:shift_jis|euc-kr|gb18030)$/.test(hinted) ? hinted : 'windows-1252';
}

function hasJapaneseEscape(bytes: Uint8Array): boolean {
  for (let at = bytes.indexOf(0x1b); at >= 0; at = bytes.indexOf(0x1b, at + 1)) {
    const next = bytes[at + 1];
    if (next === 0x24 && (bytes[at + 2] === 0x42 || bytes[at + 2] === 0x40)) return true;
  }
  return false;
}

type Shape = {
  charset: string;
  /** Share of typical characters that running text reaches. */
  minShare: number;
  /** Rank among encodings that fit: the narrower the range that was hit, the stronger the sign. */
  weight: number;
  typical: (lead: number, trail: number) => boolean;
};

// What most characters of running text are: kana in Japanese, syllables in Korean, first-level ideographs in
// Chinese. The Korean range lies inside the Chinese one, and kana pairs are Greek and Cyrillic to the others.
const shapes: readonly Shape[] = [
  {
    charset: 'shift_jis',
    minShare: 0.15,
    weight: 3,
    typical: (lead, trail) => (lead === 0x82 && trail >= 0x9f) || (lead === 0x83 && trail <= 0x96),
  },
  { charset: 'euc-jp', minShare: 0.15, weight: 3, typical: (lead) => lead === 0xa4 || lead === 0xa5 },
  {
    charset: 'euc-kr',
    minShare: 0.85,
    weight: 2,
    typical: (lead, trail) => lead >= 0xb0 && lead <= 0xc8 && trail >= 0xa1,
  },
  {
    charset: 'gb18030',
    minShare: 0.6,
    weight: 1,
    typical: (lead, trail) => lead >= 0xb0 && lead <= 0xd7 && trail >= 0xa1,
  },
  { charset: 'big5', minShare: 0.6, weight: 1, typical: (lead) => lead >= 0xa4 && lead <= 0xc6 },
];

function bestMultibyte(sample: Uint8Array): string | null {
  const leads = listPairs(sample);
  const pairs = leads.length;
  // Western text holds single accented letters between ASCII ones: its pairs are few and odd.
  if (pairs < 4) return null;
  let best: string | null = null;
  let bestScore = 0;
  for (const { charset, minShare, weight, typical } of shapes) {
    let typicalPairs = 0;
    for (const at of leads) if (typical(sample[at]!, sample[at + 1]!)) typicalPairs += 1;
    if (typicalPairs / pairs < minShare) continue;
    // Last, because a decoder and its exception cost ten times the counting.
    if (!isWellFormed(sample, charset)) continue;
    const score = weight + typicalPairs / pairs;
    if (score > bestScore) {
      best = charset;
      bestScore = score;
    }
  }
  return best;
}

function isWellFormed(sample: Uint8Array, charset: string): boolean {
  try {
    new TextDecoder(charset, { fatal: true }).decode(sample, { stream: true });
    return true;
  } catch (error) {
    // A fatal decoder reports a byte that does not fit only by throwing.
    if (!(error instanceof TypeError)) throw error;
    return false;
  }
}

/** Where pairs of bytes begin that start beyond ASCII: found once for all encodings. */
function listPairs(sample: Uint8Array): number[] {
  const leads: number[] = [];
  for (let at = 0; at + 1 < sample.length; at += 1) if (sample[at]! >= 0x80) leads.push(at++);
  return leads;
}

// The ten commonest letters make up more than half of Russian, Ukrainian and Bulgarian text.
const commonCyrillic = 'оеаинтсрвл';

/** For each single-byte encoding of Cyrillic, which bytes are those letters. */
const cyrillicBytes = ['windows-1251', 'koi8-r', 'iso-8859-5', 'ibm866'].map((charset) => {
  const letters = new TextDecoder(charset).decode(Uint8Array.from({ length: 256 }, (_, byte) => byte));
  return { charset, common: Uint8Array.from(letters, (letter) => (commonCyrillic.includes(letter) ? 1 : 0)) };
});

function bestCyrillic(sample: Uint8Array): string | null {
  const counts = new Uint32Array(256);
  let high = 0;
  // By place: the iterator of a typed array took five times as long.
  for (let at = 0; at < sample.length; at += 1) {
    const byte = sample[at]!;
    if (byte < 0x80) continue;
    high += 1;
    counts[byte] = counts[byte]! + 1;
  }
  // Cyrillic text is mostly high bytes inside words; a handful of them is a name or a quotation mark.
  if (high < 16) return null;
  let best: string | null = null;
  let bestShare = 0.4;
  for (const { charset, common } of cyrillicBytes) {
    const share = counts.reduce((sum, count, byte) => sum + count * common[byte]!, 0) / high;
    if (share > bestShare) {
      best = charset;
      bestShare = share;
    }
  }
  return best;
}
