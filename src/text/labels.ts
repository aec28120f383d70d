import iconv from 'iconv-lite';
import { ebcdicName } from './ebcdic.ts';

// Spellings seen in the wild that neither the Encoding Standard nor iconv-lite knows.
const aliases = new Map<string, string>([
  ['utf', 'utf-8'],
  ['utf8mb4', 'utf-8'],
  ['u8', 'utf-8'],
  ['utf-8-sig', 'utf-8'],
  ['latin-1', 'windows-1252'],
  ['8859-1', 'windows-1252'],
  ['iso-latin-1', 'windows-1252'],
  ['win-1251', 'windows-1251'],
  ['win1251', 'windows-1251'],
  ['win-1252', 'windows-1252'],
  ['cp-1251', 'windows-1251'],
  ['cp-1252', 'windows-1252'],
  ['gb-2312', 'gb18030'],
  ['gb18030-2000', 'gb18030'],
  ['big5hkscs', 'big5'],
  ['sjis-win', 'shift_jis'],
  ['eucjp-win', 'euc-jp'],
  ['eucjp', 'euc-jp'],
  ['euckr', 'euc-kr'],
  ['cp949', 'euc-kr'],
  ['ms949', 'euc-kr'],
  ['uhc', 'euc-kr'],
  ['cp932', 'shift_jis'],
  ['cp936', 'gb18030'],
  ['cp950', 'big5'],
  ['ucs-4', 'utf-32'],
  ['csucs4', 'utf-32'],
  ['iso-10646-ucs-4', 'utf-32'],
  ['u32', 'utf-32'],
  ['u16', 'utf-16le'],
  ['utf-16', 'utf-16le'],
  ['ucs-2', 'utf-16le'],
  ['maclatin2', 'maccenteuro'],
  ['maccentraleurope', 'maccenteuro'],
]);

const known = new Map<string, string | null>();
// Pages choose the labels, so the memory of answers needs a bound.
const maxKnown = 500;

/** The canonical name of an encoding label as pages write it, or null when nobody knows it. */
export function resolveLabel(label: string): string | null {
  if (label.length > 64) return null;
  const plain = label
    .trim()
    .replace(/^["']+|["']+$/g, '')
    .trim()
    .toLowerCase();
  const found = known.get(plain);
  if (found !== undefined) return found;
  const name = lookUp(plain) ?? lookUp(plain.replaceAll('_', '-')) ?? lookUp(plain.replace(/^x-/, ''));
  if (known.size < maxKnown) known.set(plain, name);
  return name;
}

function lookUp(label: string): string | null {
  // UTF-7 lets a page smuggle markup past filters; the Encoding Standard bans it too.
  if (label === '' || /utf-?7/.test(label)) return null;
  const alias = aliases.get(label);
  if (alias !== undefined) return alias;
  const platform = platformName(label);
  // gb18030 and gbk extend gb2312 and differ from each other only in encoding, not decoding.
  if (platform !== null) return platform === 'gbk' ? 'gb18030' : platform;
  const ebcdic = ebcdicName(label);
  if (ebcdic !== null) return ebcdic;
  // iconv-lite ignores punctuation in labels and has node's own "hex" and "base64" among its names.
  if (/hex|base64|internal|binary|ucs/.test(label) || !/^[a-z\d][\w.:()-]*$/.test(label)) return null;
  return iconv.encodingExists(label) ? label.replaceAll('_', '-') : null;
}

function platformName(label: string): string | null {
  try {
    return new TextDecoder(label).encoding;
  } catch (error) {
    // The platform says "unknown label" only by throwing.
    if (!(error instanceof RangeError)) throw error;
    return null;
  }
}
