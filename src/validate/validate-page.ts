import type { Extraction } from '../extract/index.ts';
import type { Page } from '../html/index.ts';
import {
  FEW_WORDS,
  hasText,
  isSigned,
  isTeaser,
  isTitleOfMissing,
  NOTE_WORDS,
  type OwnText,
  readOwnText,
  saysOfItself,
  saysUnquoted,
} from './own-text.ts';
import {
  BROKEN_TEXT,
  CHALLENGE_TEXT,
  CONSENT_ADDRESS,
  DENIED_TEXT,
  LOGIN_TEXT,
  MISSING_TEXT,
  MISSING_TITLE,
  plain,
  SCRIPT_TEXT,
} from './phrases.ts';
import { look, type Sight } from './sight.ts';

/** What a fetched page turned out to be: content, or the named reason why it is none. */
export type Validation =
  | { outcome: 'valid' }
  | {
      outcome: 'rejected';
      reason:
        | 'challenge'
        | 'access_denied'
        | 'login_wall'
        | 'site_error'
        | 'soft_404'
        | 'too_short'
        | 'no_text'
        | 'needs_javascript';
      detail: string;
    };

/** A response with its parsed page and, where it was made, its extraction. */
export type ValidationInput = {
  page: Page;
  extraction?: Extraction;
  bodyBytes: number;
  status: number;
  headers: Record<string, string | undefined>;
  minBodyBytes?: number;
};

type Reason = Extract<Validation, { outcome: 'rejected' }>['reason'];

const MIN_BODY_BYTES = 500;
// Above this many words a page says something of its own: phrases no longer count, only structure does.
const SHORT_WORDS = 200;

const CHALLENGE_SCRIPT =
  /\/cdn-cgi\/challenge-platform\/|challenges\.cloudflare\.com|captcha-delivery\.com|\/_Incapsula_Resource|px-captcha|perimeterx\.net\/.{0,40}captcha|\/akam\/.{0,20}\/pixel|awswaf\.com|\/\.well-known\/sgcaptcha|validate\.perfdrive\.com|geo\.captcha-delivery/i;
// Scripts that stand on challenges alone.
const OWN_SCRIPT = /\/\.within\.website\/x\/cmd\/anubis\//i;
const ANY_SCRIPT = new RegExp(`${CHALLENGE_SCRIPT.source}|${OWN_SCRIPT.source}`, 'i');
const hostOf = (page: Page): string => /^https?:\/\/([^/?#]+)/i.exec(page.url)?.[1]?.toLowerCase() ?? '';

const reject = (reason: Reason, detail: string): Validation => ({ outcome: 'rejected', reason, detail });

function phrase(pattern: RegExp, text: string): string | null {
  return pattern.exec(text)?.[0] ?? null;
}

/**
 * Decides whether a response is content. Phrases count only while the page says little else, structural marks (a
 * challenge's own script or form, a header) always: an article about Cloudflare is not a challenge.
 */
export function validatePage(input: ValidationInput): Validation {
  const { page } = input;
  const title = plain(page.title ?? '').trim();
  if (
    input.extraction !== undefined &&
    input.extraction.wordCount >= SHORT_WORDS &&
    !MISSING_TITLE.test(title)
  )
    return decideConsent(input) ?? decideLong(input, input.extraction.text);
  const sight = look(page);
  const { extraction } = input;
  const words = Math.max(sight.words, extraction?.wordCount ?? 0);
  const own = readOwnText({ ...input, title, host: hostOf(page), sight });
  const read: Read = { ...input, title, sight, words, own, keptWords: extraction?.wordCount ?? 0 };
  return (
    decideChallenge(read) ??
    decideDenied(read) ??
    decideBroken(read) ??
    decideMissing(read) ??
    decideConsent(input) ??
    decideLogin(read) ??
    decideEmpty(read) ?? { outcome: 'valid' }
  );
}

/** A page that was looked at: `words` it shows, `keptWords` of them in its text. */
type Read = ValidationInput & {
  title: string;
  sight: Sight;
  words: number;
  own: OwnText;
  keptWords: number;
};

// With an article in hand none of the phrases counts: the page need not be walked again, which is what most pages cost.
function decideLong({ headers, status, bodyBytes, minBodyBytes }: ValidationInput, text: string): Validation {
  if (headers['cf-mitigated'] === 'challenge') return reject('challenge', 'header cf-mitigated: challenge');
  if (status === 404 || status === 410) return reject('soft_404', `status ${status}`);
  if (isBinary(text)) return reject('no_text', 'binary data, not text');
  return decideSize(bodyBytes, minBodyBytes) ?? { outcome: 'valid' };
}

function decideConsent({ page, extraction }: ValidationInput): Validation | null {
  if (!CONSENT_ADDRESS.test(page.url) || isSigned(extraction, hostOf(page))) return null;
  return reject('login_wall', 'the address of a page that asks for consent');
}

function decideSize(bodyBytes: number, minBodyBytes = MIN_BODY_BYTES): Validation | null {
  if (bodyBytes >= minBodyBytes) return null;
  return reject('too_short', `${bodyBytes} bytes, fewer than ${minBodyBytes}`);
}

/** What a page says to readers without scripts; with a text in hand, what it says of the whole page. */
const noscriptOf = ({ extraction, sight }: Read): string =>
  hasText(extraction) ? sight.noscriptOfAll : sight.noscript;

function decideChallenge(read: Read): Validation | null {
  const { page, headers, sight, title, words, own, keptWords } = read;
  if (headers['cf-mitigated'] === 'challenge') return reject('challenge', 'header cf-mitigated: challenge');
  if (words >= SHORT_WORDS) return null;
  // Cloudflare adds its platform script to ordinary pages too: only a page without text is the challenge itself.
  const pattern = sight.words < NOTE_WORDS && own === 'none' ? ANY_SCRIPT : OWN_SCRIPT;
  const script = page.scriptSources.find((source) => pattern.test(source.slice(0, 500)));
  if (script !== undefined) return reject('challenge', `script ${script.slice(0, 120)}`);
  if (own === 'signed' && keptWords >= NOTE_WORDS) return null;
  if (headers['x-datadome'] !== undefined && /captcha-delivery\.com/.test(page.scriptSources.join(' ')))
    return reject('challenge', 'DataDome captcha');
  const mark = sight.marks[0];
  if (mark !== undefined) return reject('challenge', `element #${mark}`);
  const found = saysOfItself(CHALLENGE_TEXT, `${title}\n${sight.text} ${noscriptOf(read)}`, own, keptWords);
  return found === null ? null : reject('challenge', `short page says "${found}"`);
}

function decideDenied({ sight, status, title, words, own, keptWords }: Read): Validation | null {
  if (words >= SHORT_WORDS) return null;
  const found = saysOfItself(DENIED_TEXT, `${title}\n${sight.text}`, own, keptWords);
  if (found === null) return null;
  // In a page of some length the phrase must stand in the title or come with its status.
  if (
    words >= NOTE_WORDS &&
    phrase(DENIED_TEXT, title) === null &&
    status !== 403 &&
    status !== 401 &&
    status !== 451
  )
    return null;
  return reject('access_denied', `short page says "${found}"`);
}

/** The site says that it is out of order: no article, and no reason to give the address up. */
function decideBroken({ sight, title, words, own }: Read): Validation | null {
  if (words >= SHORT_WORDS || own !== 'none') return null;
  // News tell of such things too: in a page of some length it must be the title.
  const found = phrase(BROKEN_TEXT, words < NOTE_WORDS ? `${title}\n${sight.text}` : title);
  return found === null ? null : reject('site_error', `short page says "${found.slice(0, 80)}"`);
}

function decideMissing({ sight, status, title, words, own, keptWords, extraction }: Read): Validation | null {
  if (status === 404 || status === 410) return reject('soft_404', `status ${status}`);
  const inTitle = own === 'none' ? phrase(MISSING_TITLE, title) : null;
  if (inTitle !== null && words < 2 * SHORT_WORDS && sight.textBlocks < 8)
    return reject('soft_404', `title says "${inTitle}"`);
  // However much its menus say, it has no text under such a title.
  if (inTitle !== null && extraction !== undefined && keptWords < FEW_WORDS)
    return reject('soft_404', `title says "${inTitle}"`);
  // What stands below are the latest stories: no article is called that and lists others.
  if (inTitle !== null && extraction?.pageType === 'listing' && sight.headings.some(isTitleOfMissing))
    return reject('soft_404', `title says "${inTitle}", above a list`);
  if (words >= 2 * NOTE_WORDS) return null;
  const heading = own === 'none' ? sight.headings.find(isTitleOfMissing) : undefined;
  if (heading !== undefined) return reject('soft_404', `short page is headed "${heading.slice(0, 80)}"`);
  const found = saysOfItself(MISSING_TEXT, sight.text.slice(0, 1_500), own, keptWords);
  return found === null ? null : reject('soft_404', `short page says "${found}"`);
}

function decideLogin(read: Read): Validation | null {
  const { page, sight, title, words, extraction } = read;
  if (page.passwordFields === 0) {
    if (words >= NOTE_WORDS) return null;
    const found = phrase(LOGIN_TEXT, `${title}\n${sight.text}`);
    return found === null ? null : reject('login_wall', `short page says "${found}"`);
  }
  // Many sites carry a hidden login box beside an article: the wall is the page that has nothing but the box.
  if (words >= SHORT_WORDS || (extraction !== undefined && extraction.wordCount >= 100)) return null;
  if (isTeaser({ ...read, host: hostOf(page) })) return null;
  return reject('login_wall', 'password field on a page without an article');
}

function decideEmpty(read: Read): Validation | null {
  const { page, sight, words, own } = read;
  if (words < NOTE_WORDS) {
    const noscript = noscriptOf(read);
    const found =
      phrase(SCRIPT_TEXT, noscript) ??
      (own === 'none' ? phrase(SCRIPT_TEXT, sight.text) : saysUnquoted(SCRIPT_TEXT, sight.text));
    if (found !== null) return reject('needs_javascript', `page says "${found}"`);
    // In whatever language it is said.
    if (words < FEW_WORDS && /java ?script/.test(noscript))
      return reject('needs_javascript', 'hardly any text but a word about JavaScript');
    if (sight.appRoot && words < FEW_WORDS && (page.scriptSources.length > 0 || page.scriptChars > 0)) {
      return reject('needs_javascript', 'empty application root and scripts');
    }
  }
  if (isBinary(sight.text)) return reject('no_text', 'binary data, not text');
  const size = decideSize(read.bodyBytes, read.minBodyBytes);
  if (size !== null) return size;
  if (words === 0) {
    const scripts = page.scriptSources.length > 0 || page.scriptChars > 0;
    return scripts
      ? reject('needs_javascript', 'only scripts, no text')
      : reject('no_text', 'no visible text');
  }
  if (words < 5 && read.keptWords === 0) return reject('no_text', `${words} visible words`);
  return null;
}

// An image or archive read as text is full of signs no writing has; wrongly decoded text has a few.
const BINARY_SHARE = 0.1;
const NO_WRITING = /[\u0000-\u0008\u000e-\u001f\u007f-\u009f\ufffd\p{Co}\p{Cn}\p{Cs}]/gu;

function isBinary(text: string): boolean {
  const sample = text.slice(0, 5_000);
  const most = sample.length * BINARY_SHARE;
  return countDoubtful(sample, most) > most && (sample.match(NO_WRITING)?.length ?? 0) > most;
}

/** Signs outside the scripts most pages are written in, counted until there are too many; spares them the pattern above. */
function countDoubtful(text: string, most: number): number {
  let count = 0;
  for (let at = 0; at < text.length && count <= most; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= 0x20 && code < 0x7f) continue;
    const isWriting =
      (code >= 0x9 && code < 0xe) ||
      (code >= 0xa0 && code < 0x530) ||
      (code >= 0x2010 && code < 0x2060) ||
      (code >= 0x3000 && code < 0x3100) ||
      (code >= 0x4e00 && code < 0x9ff0) ||
      (code >= 0xac00 && code < 0xd7a4);
    if (!isWriting) count += 1;
  }
  return count;
}
