import type { Extraction } from '../extract/index.ts';
import { attribute, nextNode, type Page, type PageNode, TEXT, textOf } from '../html/index.ts';
import { countWords } from '../text/index.ts';
import {
  CHALLENGE_TEXT,
  CONSENT_ADDRESS,
  DENIED_TEXT,
  LOGIN_TEXT,
  MISSING_TEXT,
  MISSING_TITLE,
  plain,
  SCRIPT_TEXT,
} from './phrases.ts';

/** What a fetched page turned out to be: content, or the named reason why it is none. */
export type Validation =
  | { outcome: 'valid' }
  | {
      outcome: 'rejected';
      reason:
        | 'challenge'
        | 'access_denied'
        | 'login_wall'
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
const VERY_SHORT_WORDS = 60;
const FEW_WORDS = 20;

const CHALLENGE_SCRIPT =
  /\/cdn-cgi\/challenge-platform\/|challenges\.cloudflare\.com|captcha-delivery\.com|\/_Incapsula_Resource|px-captcha|perimeterx\.net\/.{0,40}captcha|\/akam\/.{0,20}\/pixel|awswaf\.com|\/\.well-known\/sgcaptcha|validate\.perfdrive\.com|geo\.captcha-delivery/i;
// Scripts that stand on challenges alone.
const OWN_SCRIPT = /\/\.within\.website\/x\/cmd\/anubis\//i;
const ANY_SCRIPT = new RegExp(`${CHALLENGE_SCRIPT.source}|${OWN_SCRIPT.source}`, 'i');
const CHALLENGE_MARK =
  /^(?:cf-challenge|challenge-form|challenge-running|cf-wrapper|cf-error-details|px-captcha|sec-if-cpt-container|sec-cpt-if|main-iframe|distilcaptchaform|captcha-container|challenge-stage|challenge-error-text|sgcaptcha)$/i;
const APP_ROOT =
  /^(?:root|app|__next|__nuxt|___gatsby|react-root|main-app|app-root|ember-basic-dropdown-wormhole|svelte|q-app|mount)$/i;

type Sight = {
  text: string;
  words: number;
  noscript: string;
  marks: string[];
  appRoot: boolean;
  textBlocks: number;
};

function look(page: Page): Sight {
  let noscript = '';
  const marks: string[] = [];
  let appRoot = false;
  let textBlocks = 0;
  for (let node: PageNode | null = page.root; node !== null; node = nextNode(node, page.root)) {
    if (node.tag === TEXT) {
      if (node.text.length > 80 && node.parent?.tag !== 'noscript') textBlocks++;
      continue;
    }
    if (node.tag === 'noscript' && noscript.length < 2_000) noscript += ` ${textOf(node, 1_000)}`;
    if (node.attributesFrom === node.attributesTo) continue;
    const id = attribute(node, 'id');
    if (id !== null && id.length < 60) {
      if (CHALLENGE_MARK.test(id)) marks.push(id);
      if (APP_ROOT.test(id) || attribute(node, 'ng-app') !== null)
        appRoot ||= node.first === null || textOf(node, 100).length < 30;
    }
  }
  const text = plain(textOf(page.body, 20_000));
  const words = countWords(text);
  return { text, words, noscript: plain(noscript), marks, appRoot, textBlocks };
}

const reject = (reason: Reason, detail: string): Validation => ({ outcome: 'rejected', reason, detail });

function phrase(pattern: RegExp, text: string): string | null {
  return pattern.exec(text)?.[0] ?? null;
}

/**
 * Decides whether a response is content. Phrases count only while the page says little else, structural marks (a
 * challenge's own script or form, a header) always: an article about Cloudflare is not a challenge.
 */
export function validatePage(input: ValidationInput): Validation {
  const { page, headers, status } = input;
  const title = plain(page.title ?? '').trim();
  if (
    input.extraction !== undefined &&
    input.extraction.wordCount >= SHORT_WORDS &&
    !MISSING_TITLE.test(title)
  )
    return decideConsent(input) ?? decideLong(input, input.extraction.text);
  const sight = look(page);
  const words = Math.max(
    sight.words > VERY_SHORT_WORDS ? sight.words : 0,
    input.extraction?.wordCount ?? 0,
    sight.words,
  );
  const short = words < SHORT_WORDS && !isShortArticle(input, title);
  return (
    decideChallenge(page, sight, headers, title, short) ??
    decideDenied(sight, status, title, short, words) ??
    decideMissing(sight, title, status, words) ??
    decideConsent(input) ??
    decideLogin(page, sight, title, words, input.extraction) ??
    decideEmpty(input, sight, words) ?? { outcome: 'valid' }
  );
}

// With an article in hand none of the phrases counts: the page need not be walked again, which is what most pages cost.
function decideLong({ headers, status, bodyBytes, minBodyBytes }: ValidationInput, text: string): Validation {
  if (headers['cf-mitigated'] === 'challenge') return reject('challenge', 'header cf-mitigated: challenge');
  if (status === 404 || status === 410) return reject('soft_404', `status ${status}`);
  if (isBinary(text)) return reject('no_text', 'binary data, not text');
  return decideSize(bodyBytes, minBodyBytes) ?? { outcome: 'valid' };
}

function decideConsent({ page, extraction }: ValidationInput): Validation | null {
  if (!CONSENT_ADDRESS.test(page.url) || isSigned(extraction)) return null;
  return reject('login_wall', 'the address of a page that asks for consent');
}

function decideSize(bodyBytes: number, minBodyBytes = MIN_BODY_BYTES): Validation | null {
  if (bodyBytes >= minBodyBytes) return null;
  return reject('too_short', `${bodyBytes} bytes, fewer than ${minBodyBytes}`);
}

const GATE_TITLE_REST_CHARS = 25;

/** A short news item that only mentions a gate: it says who wrote it or when, has sentences, and another title. */
function isShortArticle({ extraction }: ValidationInput, title: string): boolean {
  if (extraction === undefined || extraction.wordCount < VERY_SHORT_WORDS || !isSigned(extraction))
    return false;
  for (const pattern of [CHALLENGE_TEXT, DENIED_TEXT]) {
    const said = phrase(pattern, title);
    // A gate's title is the phrase and perhaps the site's name.
    if (said !== null && title.length - said.length <= GATE_TITLE_REST_CHARS) return false;
  }
  return true;
}

/** Whether somebody says to have written the page, or when. */
function isSigned(extraction: Extraction | undefined): boolean {
  return extraction !== undefined && (extraction.publishedAt !== null || extraction.authors.length > 0);
}

function decideChallenge(
  page: Page,
  sight: Sight,
  headers: ValidationInput['headers'],
  title: string,
  short: boolean,
): Validation | null {
  if (headers['cf-mitigated'] === 'challenge') return reject('challenge', 'header cf-mitigated: challenge');
  if (
    headers['x-datadome'] !== undefined &&
    short &&
    /captcha-delivery\.com/.test(page.scriptSources.join(' '))
  )
    return reject('challenge', 'DataDome captcha');
  if (!short) return null;
  const mark = sight.marks[0];
  if (mark !== undefined) return reject('challenge', `element #${mark}`);
  // Cloudflare adds its platform script to ordinary pages too: only a page without text is the challenge itself.
  const pattern = sight.words < VERY_SHORT_WORDS ? ANY_SCRIPT : OWN_SCRIPT;
  const script = page.scriptSources.find((source) => pattern.test(source.slice(0, 500)));
  if (script !== undefined) return reject('challenge', `script ${script.slice(0, 120)}`);
  const found = phrase(CHALLENGE_TEXT, `${title}\n${sight.text} ${sight.noscript}`);
  return found === null ? null : reject('challenge', `short page says "${found}"`);
}

function decideDenied(
  sight: Sight,
  status: number,
  title: string,
  short: boolean,
  words: number,
): Validation | null {
  if (!short) return null;
  const found = phrase(DENIED_TEXT, `${title}\n${sight.text}`);
  if (found === null) return null;
  // In a page of some length the phrase must stand in the title or come with its status.
  if (
    words >= VERY_SHORT_WORDS &&
    phrase(DENIED_TEXT, title) === null &&
    status !== 403 &&
    status !== 401 &&
    status !== 451
  )
    return null;
  return reject('access_denied', `short page says "${found}"`);
}

function decideMissing(sight: Sight, title: string, status: number, words: number): Validation | null {
  if (status === 404 || status === 410) return reject('soft_404', `status ${status}`);
  const inTitle = phrase(MISSING_TITLE, title);
  if (inTitle !== null && words < 2 * SHORT_WORDS && sight.textBlocks < 8)
    return reject('soft_404', `title says "${inTitle}"`);
  if (words >= VERY_SHORT_WORDS * 2) return null;
  const found = phrase(MISSING_TEXT, sight.text.slice(0, 1_500));
  return found === null ? null : reject('soft_404', `short page says "${found}"`);
}

function decideLogin(
  page: Page,
  sight: Sight,
  title: string,
  words: number,
  extraction: Extraction | undefined,
): Validation | null {
  if (page.passwordFields === 0) {
    if (words >= VERY_SHORT_WORDS) return null;
    const found = phrase(LOGIN_TEXT, `${title}\n${sight.text}`);
    return found === null ? null : reject('login_wall', `short page says "${found}"`);
  }
  // Many sites carry a hidden login box beside an article: the wall is the page that has nothing but the box.
  if (words >= SHORT_WORDS || (extraction !== undefined && extraction.wordCount >= 100)) return null;
  return reject('login_wall', 'password field on a page without an article');
}

function decideEmpty(input: ValidationInput, sight: Sight, words: number): Validation | null {
  const { page } = input;
  if (words < VERY_SHORT_WORDS) {
    const found = phrase(SCRIPT_TEXT, `${sight.noscript} ${sight.text}`);
    if (found !== null) return reject('needs_javascript', `page says "${found}"`);
    // In whatever language it is said.
    if (words < FEW_WORDS && /java ?script/.test(sight.noscript))
      return reject('needs_javascript', 'hardly any text but a word about JavaScript');
    if (sight.appRoot && words < FEW_WORDS && (page.scriptSources.length > 0 || page.scriptChars > 0)) {
      return reject('needs_javascript', 'empty application root and scripts');
    }
  }
  if (isBinary(sight.text)) return reject('no_text', 'binary data, not text');
  const size = decideSize(input.bodyBytes, input.minBodyBytes);
  if (size !== null) return size;
  if (words === 0) {
    const scripts = page.scriptSources.length > 0 || page.scriptChars > 0;
    return scripts
      ? reject('needs_javascript', 'only scripts, no text')
      : reject('no_text', 'no visible text');
  }
  if (words < 5 && (input.extraction?.wordCount ?? 0) === 0)
    return reject('no_text', `${words} visible words`);
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
