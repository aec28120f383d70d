type Cookie = { name: string; value: string; host: string; below: boolean; path: string; secure: boolean };

// What sites set to see whether cookies come back is one short one; nobody needs more than this to be let in.
const mostCookies = 20;
const mostChars = 4_096;

/**
 * The cookies of one row's redirects. Sites that count their readers set one, lead to the same address again and to no
 * page until it comes back. Kept as long as the row is fetched, and given to nobody but who set them (RFC 6265).
 */
export class ChainCookies {
  #cookies: Cookie[] = [];

  /** Takes what an answer sets, one cookie in each line; true when something is new by it. */
  take(url: string, header: string | undefined): boolean {
    if (header === undefined) return false;
    const from = new URL(url);
    let isNew = false;
    for (const line of header.slice(0, 4 * mostChars).split('\n')) {
      const { cookie, isOver } = readCookie(line, from);
      if (cookie === null) continue;
      const others = this.#cookies.filter((one) => !isSame(one, cookie));
      const known = this.#cookies.find((one) => isSame(one, cookie));
      if (isOver) {
        isNew ||= known !== undefined;
        this.#cookies = others;
      } else if (known?.value !== cookie.value && others.length < mostCookies) {
        isNew = true;
        this.#cookies = [...others, cookie];
      }
    }
    return isNew;
  }

  /** What a request to an address sends; null: nothing. */
  headerFor(url: string): string | null {
    if (this.#cookies.length === 0) return null;
    const to = new URL(url);
    const sent = this.#cookies
      .filter((one) => isFor(one, to))
      // The closest path first.
      .sort((a, b) => b.path.length - a.path.length)
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
    return sent === '' || sent.length > mostChars ? null : sent;
  }
}

const isSame = (a: Cookie, b: Cookie): boolean =>
  a.name === b.name && a.host === b.host && a.below === b.below && a.path === b.path;

function isFor({ host, below, path, secure }: Cookie, to: URL): boolean {
  const isHost = to.hostname === host || (below && to.hostname.endsWith(`.${host}`));
  const rest = to.pathname.startsWith(path) ? to.pathname.slice(path.length) : null;
  const isBelow = rest !== null && (rest === '' || path.endsWith('/') || rest.startsWith('/'));
  return isHost && isBelow && (!secure || to.protocol === 'https:');
}

// What may stand in a request's header; anything else would let a server write more of it.
const PLAIN = /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/;

function readCookie(line: string, from: URL): { cookie: Cookie | null; isOver: boolean } {
  const [pair = '', ...attributes] = line.split(';', 20).map((part) => part.trim());
  const equals = pair.indexOf('=');
  const none = { cookie: null, isOver: false };
  if (equals < 1 || pair.length > mostChars || !PLAIN.test(pair)) return none;
  const cookie: Cookie = {
    name: pair.slice(0, equals).trim(),
    value: pair.slice(equals + 1).trim(),
    host: from.hostname,
    below: false,
    path: from.pathname.replace(/\/[^/]*$/, '') || '/',
    secure: false,
  };
  let isOver = false;
  let maxAge: number | null = null;
  for (const attribute of attributes) {
    const [name = '', value = ''] = attribute.split('=', 2).map((part) => part.trim());
    if (/^secure$/i.test(name)) cookie.secure = true;
    else if (/^path$/i.test(name) && value.startsWith('/')) cookie.path = value;
    else if (/^max-age$/i.test(name)) maxAge = /^-?\d+$/.test(value) ? Number(value) : maxAge;
    else if (/^expires$/i.test(name)) isOver = Date.parse(value) < Date.now();
    else if (/^domain$/i.test(name) && value !== '') {
      const domain = value.replace(/^\./, '').toLowerCase();
      // Somebody else's is refused as a whole.
      if (from.hostname !== domain && !from.hostname.endsWith(`.${domain}`)) return none;
      // A host that is a number has no hosts below it.
      if (domain.includes('.') && !/^[\d.]+$/.test(domain))
        Object.assign(cookie, { host: domain, below: true });
    }
  }
  // Where both are told, the one counts that needs no clock (RFC 6265 section 5.3).
  return { cookie, isOver: maxAge === null ? isOver : maxAge <= 0 };
}
