// Namespaces by address, reduced to the short names the readers use; '' is the feed's own vocabulary.
const namespaces = new Map<string, string>([
  ['backend.userland.com/rss', ''],
  ['backend.userland.com/rss2', ''],
  ['blogs.law.harvard.edu/tech/rss', ''],
  ['cyber.law.harvard.edu/rss/rss.html', ''],
  ['purl.org/rss/1.0', ''],
  ['purl.org/net/rss1.1', ''],
  ['my.netscape.com/rdf/simple/0.9', ''],
  ['my.netscape.com/publish/formats/rss-0.91.dtd', ''],
  ['channel.netscape.com/rdf/simple/0.9', ''],
  ['example.com/newformat', ''],
  ['example.com/necho', ''],
  ['purl.org/echo', ''],
  ['uri/of/echo/namespace', ''],
  ['purl.org/pie', ''],
  ['purl.org/atom/ns', ''],
  ['www.w3.org/2005/atom', ''],
  ['purl.org/rss/1.0/modules/rss091', ''],
  ['www.w3.org/1999/02/22-rdf-syntax-ns', 'rdf'],
  ['purl.org/dc/elements/1.1', 'dc'],
  ['purl.org/dc/elements/1.0', 'dc'],
  ['purl.org/dc/terms', 'dcterms'],
  ['purl.org/rss/1.0/modules/content', 'content'],
  ['purl.org/rss/1.0/modules/syndication', 'sy'],
  ['search.yahoo.com/mrss', 'media'],
  ['www.rssboard.org/media-rss', 'media'],
  ['tools.search.yahoo.com/mrss', 'media'],
  ['www.itunes.com/dtds/podcast-1.0.dtd', 'itunes'],
  ['example.com/dtds/podcast-1.0.dtd', 'itunes'],
  ['rssnamespace.org/feedburner/ext/1.0', 'feedburner'],
  ['www.pheedo.com/namespace/pheedo', 'pheedo'],
  ['www.w3.org/1999/xhtml', 'xhtml'],
  ['www.w3.org/xml/1998/namespace', 'xml'],
]);

// What prefixes mean when the document forgets to declare them.
const customary = new Map<string, string>([
  ['atom', ''],
  ['atom10', ''],
  ['atom03', ''],
  ['rss', ''],
  ['a10', ''],
  ['dc11', 'dc'],
]);

/** Prefixes declared on one element; lookups go outwards. */
export type Scope = {
  parent: Scope | null;
  prefixes: Map<string, string>;
  cache: Map<string, string>;
  /** Default namespace as written, where one was. */
  address: string;
  /** Scopes of inner elements by what they declare: some programs repeat declarations on every element. */
  inner: Map<string, Scope>;
};

/** The scope of a document before its first declaration. */
export function rootScope(): Scope {
  return newScope(null);
}

function newScope(parent: Scope | null): Scope {
  return { parent, prefixes: new Map(), cache: new Map(), address: parent?.address ?? '', inner: new Map() };
}

/** The scope inside an element: its own when the element declares prefixes, else the surrounding one. */
export function enterScope(scope: Scope, attributes: Record<string, string>): Scope {
  let declarations = '';
  for (const name in attributes)
    if (name.startsWith('xmlns')) declarations += `${name}=${attributes[name] ?? ''} `;
  if (declarations === '') return scope;
  const known = scope.inner.get(declarations);
  if (known) return known;
  const inner = newScope(scope);
  for (const name in attributes) {
    const prefix = name === 'xmlns' ? '' : name.startsWith('xmlns:') ? name.slice(6) : null;
    if (prefix === null) continue;
    inner.prefixes.set(prefix, namespaceOf(attributes[name] ?? '', prefix));
    if (prefix === '') inner.address = (attributes[name] ?? '').slice(0, maxNamespaceChars);
  }
  // Documents choose the declarations; beyond this many they are noise.
  if (scope.inner.size < 100 && declarations.length < 1000) scope.inner.set(declarations, inner);
  return inner;
}

// No namespace anybody knows is as long.
const maxNamespaceChars = 200;

function namespaceOf(address: string, prefix: string): string {
  const plain = address
    .slice(0, maxNamespaceChars)
    .trim()
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/[/#]+$/, '');
  const known = namespaces.get(plain);
  if (known !== undefined) return known;
  // A default namespace nobody knows is the feed's own in one more spelling; a prefix speaks for itself.
  return prefix === '' ? '' : (customary.get(prefix) ?? prefix);
}

/** The key of an element, like "item", "dc:date" or "content:encoded". */
export function keyOf(name: string, scope: Scope): string {
  const known = scope.cache.get(name);
  if (known !== undefined) return known;
  const colon = name.indexOf(':');
  const prefix = colon < 0 ? '' : name.slice(0, colon);
  const local = colon < 0 ? name : name.slice(colon + 1);
  let space = customary.get(prefix) ?? prefix;
  for (let at: Scope | null = scope; at; at = at.parent) {
    const declared = at.prefixes.get(prefix);
    if (declared !== undefined) {
      space = declared;
      break;
    }
  }
  const key = space === '' ? local : `${space}:${local}`;
  // Documents choose the names; beyond this many they are noise.
  if (scope.cache.size < 1000) scope.cache.set(name, key);
  return key;
}
