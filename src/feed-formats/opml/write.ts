import type { OpmlOutline } from './model.ts';

type Folder = { folders: Map<string, Folder>; outlines: OpmlOutline[] };

/** Writes subscriptions as OPML 2.0, in their folders, each list in the order given. */
export function writeOpml(
  outlines: Iterable<OpmlOutline>,
  options: { title?: string; created?: Date } = {},
): string {
  const root: Folder = { folders: new Map(), outlines: [] };
  for (const outline of outlines) folderOf(root, outline.folders).outlines.push(outline);
  const lines: string[] = [];
  writeFolder(root, lines);
  return `${opmlHead(options)}${lines.map((line) => `${line}\n`).join('')}${opmlFoot}`;
}

/** How an OPML file begins; `namespace` declares the prefix of extra attributes. */
export function opmlHead(
  options: { title?: string; created?: Date; namespace?: { prefix: string; uri: string } } = {},
): string {
  const { title = 'Outrider', created, namespace } = options;
  const declared = namespace === undefined ? '' : ` xmlns:${namespace.prefix}="${escapeXml(namespace.uri)}"`;
  const lines = ['<?xml version="1.0" encoding="UTF-8"?>', `<opml version="2.0"${declared}>`, '  <head>'];
  lines.push(`    <title>${escapeXml(title)}</title>`);
  if (created !== undefined) lines.push(`    <dateCreated>${created.toUTCString()}</dateCreated>`);
  lines.push('  </head>', '  <body>', '');
  return lines.join('\n');
}

/** How an OPML file ends. */
export const opmlFoot = '  </body>\n</opml>\n';

function folderOf(root: Folder, names: readonly string[]): Folder {
  let folder = root;
  for (const name of names) {
    let next = folder.folders.get(name);
    if (next === undefined) {
      next = { folders: new Map(), outlines: [] };
      folder.folders.set(name, next);
    }
    folder = next;
  }
  return folder;
}

/** With a stack of its own: folders come from people, and people can make a thousand levels. */
function writeFolder(root: Folder, lines: string[]): void {
  const stack: (Folder | string)[] = [root];
  const indents = ['    '];
  while (stack.length > 0) {
    const item = stack.pop()!;
    const indent = indents.pop()!;
    if (typeof item === 'string') {
      lines.push(indent + item);
      continue;
    }
    for (const outline of item.outlines) lines.push(`${indent}${outlineTag(outline)}`);
    for (const [name, folder] of [...item.folders].reverse()) {
      stack.push('</outline>', folder, `<outline text="${escapeXml(name)}">`);
      indents.push(indent, `${indent}  `.slice(0, 40), indent);
    }
  }
}

/** One subscription; `extra` is written with the prefix given. */
export function outlineTag(outline: OpmlOutline, extraPrefix = ''): string {
  const title = outline.title ?? outline.feedUrl ?? outline.siteUrl ?? '';
  const attributes: [string, string | null][] = [
    ['type', outline.feedUrl === null ? 'link' : 'rss'],
    ['text', title],
    ['title', outline.title],
    ['xmlUrl', outline.feedUrl],
    ['htmlUrl', outline.siteUrl],
    ['description', outline.description],
    ['language', outline.language],
    ...Object.entries(outline.extra ?? {}).map(([name, value]): [string, string] => [
      `${extraPrefix}:${name}`,
      value,
    ]),
  ];
  const written = attributes.flatMap(([name, value]) =>
    value === null ? [] : [`${name}="${escapeXml(value)}"`],
  );
  return `<outline ${written.join(' ')}/>`;
}

/** Text for an attribute; characters XML 1.0 cannot hold are left out. */
function escapeXml(text: string): string {
  // Through UTF-8, so that half a surrogate pair becomes U+FFFD instead of a file nobody can read.
  return Buffer.from(text, 'utf8')
    .toString('utf8')
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replace(/[\t\n\r]/g, (blank) => `&#${blank.charCodeAt(0)};`);
}
