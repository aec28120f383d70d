import type { LeasedUrl, SettleDocument } from '../../frontier/index.ts';
import { classifyUrl, identifyUrl, isFrontPage, parseUrl, type UrlIdentity } from '../../url/index.ts';
import { type Decision, decideLedToListing, decideRejection, type RowFacts } from '../outcome.ts';

/** What it means that a page's address led to a gate or a front page: the page itself was not seen. Null: it may go on. */
export function decideLedAstray(
  row: LeasedUrl,
  { to, isLasting }: { to: UrlIdentity; isLasting: boolean },
  facts: RowFacts,
): Decision | null {
  if (isLedToGate(row, to)) return decideRejection('login_wall', `it leads to ${to.fetchUrl}`, facts);
  return isLedHome(row, to) ? decideLedToListing({ url: to.fetchUrl, isLasting }, facts) : null;
}

/** Whether an article's address led to a front page: that is where publishers send the readers of what is gone. */
function isLedHome(row: LeasedUrl, to: UrlIdentity): boolean {
  if (row.kind !== 'article' || !isFrontPage(to.key)) return false;
  const own = identifyUrl(row.url);
  return own.outcome === 'ok' && !isFrontPage(own.identity.key);
}

/** Whether an article's address led to a list of articles: its own address says so, and it shows no article. */
export function isLedToList(
  row: LeasedUrl,
  to: { url: string; isMoved: boolean },
  document: SettleDocument,
): boolean {
  if (row.kind !== 'article' || document.pageType === 'article') return false;
  return (to.isMoved || row.origin === 'redirect') && classifyUrl(to.url, {}).kind === 'listing';
}

// Hosts that do nothing else: `consent.yahoo.com`, `myprivacy.dpgmedia.nl`.
const gateHost = /^(?:consent|guce|myprivacy|privacy-?gate)\./;
// `/user/login`, `sso.example.com/authorize`, `/privacy-gate`.
const gateWord =
  /(?:^|[./_-])(?:log-?[io]n|log_in|sign-?in|sso|oauth2?|openid|auth|authenticate|authori[sz]e|accounts?|idp|privacy|consents?|cookies?(?:wall)?|(?:pay|reg)wall|gate|subscribe|captcha)(?=$|[./_-])/i;
// What is written into an address that is a parameter of an address may be escaped three times.
const escapes = 3;

/**
 * Whether a page was led to somebody who asks for a login or for consent first: the address says so, and holds the way
 * back to what was asked for. An article about consent has such words in its address, but no way back.
 */
function isLedToGate(row: LeasedUrl, to: UrlIdentity): boolean {
  const [from, gate] = [parseUrl(row.url), parseUrl(to.fetchUrl)];
  if (from === null || gate === null || row.kind === 'image') return false;
  if (gateHost.test(gate.hostname)) return !gateHost.test(from.hostname);
  // Any address holds the way back to `/`.
  if (from.pathname.length < 2) return false;
  if (!gateWord.test(gate.hostname + gate.pathname) || gateWord.test(from.pathname)) return false;
  const path = unescaped(from.pathname);
  let query = gate.search;
  for (let time = 0; time < escapes; time += 1) query = unescaped(query);
  return query.includes(path);
}

/** Escapes read, those that are none left as they are: one bad parameter must not hide the others. */
const unescaped = (text: string): string =>
  text.replace(/(?:%[\da-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'));
