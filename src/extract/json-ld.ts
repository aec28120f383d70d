import { collapse, copyString } from '../html/index.ts';
import { parseLdScript } from './json-ld-script.ts';

/** A JSON-LD object as found in the wild: nothing about its values is certain. */
export type LdNode = Record<string, unknown>;

/** A step of the way from the front page to this one, as the page declares it. */
export type Crumb = { name: string; url: string | null };

/** What the page's JSON-LD says, reduced to plain values. */
export type LdFacts = {
  /** The node that describes the article or, failing that, the page. */
  main: LdNode | null;
  isArticle: boolean;
  headline: string | null;
  description: string | null;
  section: string | null;
  authors: string[];
  /** Those of the authors that are organizations. */
  organizations: string[];
  publisher: string | null;
  siteNames: string[];
  url: string | null;
  images: string[];
  datePublished: string | null;
  dateCreated: string | null;
  dateModified: string | null;
  wordCount: number | null;
  /** As they were given: one string may hold several. */
  keywords: string[];
  type: string | null;
  location: string | null;
  body: string | null;
  /** How many different texts of articles there are. */
  bodies: number;
  types: string[];
  crumbs: Crumb[];
};

const MAX_NODES = 5_000;
// A headline, a description, a name; as of meta tags.
const MAX_VALUE_CHARS = 5_000;
const MAX_SITE_NAMES = 50;
const MAX_CRUMBS = 12;

const ARTICLE =
  /^(?:\w*article|\w*blogposting|liveblogposting|reportage\w*|analysisnews\w*|opinionnews\w*|report|recipe|howto|review|socialmediaposting|discussionforumposting|creativework|claimreview|medicalwebpage)$/i;
const PAGE =
  /^(?:webpage|itempage|aboutpage|faqpage|qapage|collectionpage|videoobject|audioobject|podcastepisode|radioepisode|tvepisode|imagegallery|mediagallery|event|product|newsmediaorganization)$/i;

/** Every object with a type, in the order found; walks without recursion. */
function collectNodes(roots: unknown[]): LdNode[] {
  const nodes: LdNode[] = [];
  const queue: unknown[] = [...roots];
  for (let i = 0; i < queue.length && i < MAX_NODES; i++) {
    const value = queue[i];
    if (Array.isArray(value)) queue.push(...value.slice(0, 500));
    else if (value !== null && typeof value === 'object') {
      const node = value as LdNode;
      if (node['@type'] !== undefined || node['@id'] !== undefined) nodes.push(node);
      for (const key of Object.keys(node).slice(0, 200)) {
        const child = node[key];
        if (child !== null && typeof child === 'object') queue.push(child);
      }
    }
  }
  return nodes;
}

/** The type names of a node without their namespace. */
export function typesOf(node: LdNode): string[] {
  const type = node['@type'];
  const list = Array.isArray(type) ? type : [type];
  return list
    .filter((name): name is string => typeof name === 'string')
    .map((name) => name.replace(/^.*[/#:]/, ''));
}

/** The first text a value offers: a string, a `name`, an `@value`, or the first of a list. */
export function textValue(value: unknown, depth = 0): string | null {
  if (typeof value === 'string') return clean(value.slice(0, MAX_VALUE_CHARS));
  if (typeof value === 'number') return String(value);
  if (depth > 4 || value === null || typeof value !== 'object') return null;
  if (Array.isArray(value)) {
    for (const item of value.slice(0, 10)) {
      const found = textValue(item, depth + 1);
      if (found !== null) return found;
    }
    return null;
  }
  const node = value as LdNode;
  return textValue(node.name ?? node['@value'] ?? node.headline ?? null, depth + 1);
}

const ENTITY: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  rsquo: '’',
  lsquo: '‘',
  ldquo: '“',
  rdquo: '”',
  ndash: '–',
  mdash: '—',
  hellip: '…',
};

/** Decodes the entities that are left in attribute and JSON text by double escaping. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(#x[0-9a-f]{1,6}|#\d{1,7}|[a-z]{2,6});/gi, (whole, name: string) => {
    if (name[0] !== '#') return ENTITY[name.toLowerCase()] ?? whole;
    const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number.parseInt(name.slice(1), 10);
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
      ? String.fromCodePoint(code)
      : whole;
  });
}

/** A text without entities and tags; null where nothing is left. */
export function clean(text: string): string | null {
  const plain = collapse(decodeEntities(decodeEntities(text)).replace(/<[^<>]{0,500}>/g, ' '));
  return plain === '' ? null : copyString(plain);
}

function names(value: unknown, byId: Map<string, LdNode>): string[] {
  const found: string[] = [];
  for (const item of listOf(value)) {
    const target = referredTo(item, byId);
    const inner = target !== null && isNode(target) ? nameOf(target) : target;
    for (const name of Array.isArray(inner) ? inner.slice(0, 30) : [inner]) {
      const text = textValue(name);
      if (text !== null && !NO_VALUE.test(text) && !found.includes(text)) found.push(text);
    }
  }
  return found;
}

const isNode = (value: unknown): value is LdNode =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

// What programs write for the parts of a name they do not have.
const NO_VALUE = /^(?:(?:null|undefined|none|nan)(?: |$))+$/i;

/** What a value stands for: the node it refers to by its `@id` or is the `@id` of, or whom a role names. */
function referredTo(item: unknown, byId: Map<string, LdNode>): unknown {
  if (typeof item === 'string') return byId.get(item) ?? item;
  if (!isNode(item) || item.name !== undefined) return item;
  if (typeof item['@id'] === 'string') return byId.get(item['@id']) ?? item;
  // A role repeats the property it is the value of (schema.org, Role).
  return isNode(item.author) && typesOf(item).some((type) => /role$/i.test(type)) ? item.author : item;
}

/** The name of a node, or what a person's first and last names make. */
function nameOf(node: LdNode): unknown {
  if (node.name !== undefined) return node.name;
  const parts = [node.givenName, node.familyName].filter((part) => typeof part === 'string');
  return parts.length > 0 ? parts.join(' ') : node['@value'];
}

const MAX_ITEMS = 30;

/** The items of a list, of `@list`, or of the numbered properties that PHP makes of a list with gaps. */
function listOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS);
  if (!isNode(value)) return [value];
  const list = value['@list'];
  if (Array.isArray(list)) return list.slice(0, MAX_ITEMS);
  const keys = Object.keys(value);
  const isNumbered =
    keys.length > 0 && keys.length <= MAX_ITEMS && keys.every((key) => /^\d{1,4}$/.test(key));
  return isNumbered ? Object.values(value) : [value];
}

function isOrganization(value: unknown, byId: Map<string, LdNode>): boolean {
  if (value === null || typeof value !== 'object') return false;
  const node = value as LdNode;
  const target = typeof node['@id'] === 'string' ? (byId.get(node['@id']) ?? node) : node;
  return typesOf(target).some((type) => /organi[sz]ation$|^corporation$/i.test(type));
}

/** The addresses a value offers, in the order written: strings, objects with a url, references to other nodes. */
function urlsOf(value: unknown, byId: Map<string, LdNode>): string[] {
  const found: string[] = [];
  const stack: unknown[] = [value];
  for (let steps = 0; stack.length > 0 && steps < 50; steps++) {
    const item = stack.pop();
    if (typeof item === 'string') found.push(copyString(item.trim()));
    else if (Array.isArray(item)) stack.push(...item.slice(0, 20).reverse());
    else if (item !== null && typeof item === 'object') {
      const node = item as LdNode;
      const address = node.url ?? node.contentUrl ?? node['@id'];
      const target = typeof node['@id'] === 'string' ? byId.get(node['@id']) : undefined;
      if (node.url === undefined && node.contentUrl === undefined && target !== undefined && target !== node)
        stack.push(target.url ?? target.contentUrl);
      else stack.push(address);
    }
  }
  return found.filter((url) => url !== '');
}

function score(node: LdNode, title: string): number {
  const types = typesOf(node);
  let points = 0;
  if (types.some((type) => ARTICLE.test(type))) points = 10;
  else if (types.some((type) => PAGE.test(type))) points = 4;
  else return 0;
  if (typeof node.articleBody === 'string') points += 3;
  if (node.datePublished !== undefined) points += 2;
  if (node.author !== undefined) points += 1;
  const headline = textValue(node.headline ?? node.name ?? null);
  // A listing of other articles carries many nodes: the one that bears the page's title is ours.
  if (headline !== null && title !== '' && title.toLowerCase().includes(headline.toLowerCase().slice(0, 60)))
    points += 5;
  return points;
}

// One of these makes a node more than a reference to another.
const NAMING = ['name', 'familyName', 'givenName', 'url'] as const;

/** Reads all JSON-LD of a page; broken scripts are skipped. */
export function readJsonLd(scripts: string[], pageTitle: string | null): LdFacts {
  const roots = scripts.map(parseLdScript).filter((value) => value !== null);
  const nodes = collectNodes(roots);
  const byId = new Map<string, LdNode>();
  for (const node of nodes) {
    const id = node['@id'];
    if (typeof id === 'string' && NAMING.some((key) => node[key] !== undefined) && !byId.has(id))
      byId.set(id, node);
  }
  let main: LdNode | null = null;
  let best = 0;
  let page: LdNode | null = null;
  for (const node of nodes) {
    const points = score(node, pageTitle ?? '');
    if (points > best) {
      best = points;
      main = node;
    }
    if (page === null && typesOf(node).some((type) => PAGE.test(type))) page = node;
  }
  const pick = (key: string) => main?.[key] ?? page?.[key] ?? null;
  const siteNames = nodes
    .filter((node) =>
      typesOf(node).some((type) => /^(website|organization|newsmediaorganization)$/i.test(type)),
    )
    .flatMap((node) => names(node.name, byId))
    .slice(0, MAX_SITE_NAMES);
  const authors = pick('author') ?? pick('creator');
  const types = main === null ? [] : typesOf(main);
  const words = Number(pick('wordCount'));
  return {
    main,
    isArticle: types.some((type) => ARTICLE.test(type)),
    headline: main === null ? null : textValue(main.headline ?? main.name ?? null),
    description: textValue(pick('description')),
    section: textValue(pick('articleSection')),
    authors: names(authors, byId),
    organizations: names(
      listOf(authors).filter((one) => isOrganization(one, byId)),
      byId,
    ),
    publisher: names(pick('publisher'), byId)[0] ?? null,
    siteNames,
    url: urlsOf(main?.url ?? main?.mainEntityOfPage ?? null, byId)[0] ?? null,
    images: urlsOf(main?.image ?? main?.thumbnailUrl ?? page?.primaryImageOfPage ?? null, byId).slice(0, 20),
    datePublished: textValue(pick('datePublished')) ?? textValue(main?.uploadDate),
    dateCreated: textValue(pick('dateCreated')),
    dateModified: textValue(pick('dateModified')),
    wordCount: Number.isFinite(words) && words > 0 ? Math.round(words) : null,
    keywords: listOf(pick('keywords'))
      .slice(0, 100)
      .flatMap((one) => textValue(one) ?? []),
    type: types[0] ?? null,
    location: textValue(main?.contentLocation ?? main?.locationCreated ?? main?.dateline ?? null),
    body: typeof main?.articleBody === 'string' ? clean(main.articleBody) : null,
    bodies: new Set(nodes.flatMap(({ articleBody }) => (typeof articleBody === 'string' ? articleBody : [])))
      .size,
    types: [...new Set(nodes.flatMap(typesOf))].slice(0, 100),
    crumbs: readCrumbs(nodes, byId),
  };
}

/** The first list of breadcrumbs among the nodes of JSON-LD, in its order. */
function readCrumbs(nodes: readonly LdNode[], byId: Map<string, LdNode>): Crumb[] {
  for (const node of nodes) {
    if (!typesOf(node).includes('BreadcrumbList') || !Array.isArray(node.itemListElement)) continue;
    const steps = node.itemListElement
      .slice(0, MAX_CRUMBS)
      .filter((step): step is LdNode => step !== null && typeof step === 'object');
    const place = ({ position }: LdNode) => Number(position) || 0;
    const crumbs = steps
      .toSorted((a, b) => place(a) - place(b))
      .flatMap((step) => {
        const name = textValue(step.name ?? step.item);
        return name === null || name.length > 1_000
          ? []
          : [{ name, url: urlsOf(step.item, byId)[0] ?? null }];
      });
    if (crumbs.length > 0) return crumbs;
  }
  return [];
}
