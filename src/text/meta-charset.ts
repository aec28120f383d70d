// What is no markup, and what may declare an encoding.
const passage = /<!--|<(?:script|style|title|textarea|noscript)\b|<meta[\s/]/gi;
const attribute = /([^\s"'>/=]{1,64})\s{0,20}=\s{0,20}(?:"([^"]{0,900})"|'([^']{0,900})'|([^\s"'>]{1,500}))/g;
const inContent = /charset\s{0,20}=\s{0,20}["']?([^\s"';]{1,64})/i;
const maxMetas = 100;
const maxMetaChars = 1000;

/**
 * The label of an encoding that a page's beginning declares in a `<meta>` and that somebody knows. Comments, scripts and
 * what the description of a page on encodings says declare nothing (HTML standard, "prescan a byte stream").
 */
export function metaCharset(head: string, isKnown: (label: string) => boolean): string | null {
  passage.lastIndex = 0;
  for (let metas = 0; metas < maxMetas; ) {
    const found = passage.exec(head);
    if (found === null) return null;
    const opened = found[0].toLowerCase();
    if (opened.startsWith('<meta')) {
      metas += 1;
      const { label, chars } = readMeta(head.slice(passage.lastIndex, passage.lastIndex + maxMetaChars));
      if (label !== null && isKnown(label)) return label;
      passage.lastIndex += chars;
    } else {
      // Without an end it is no passage: the head is cut off there, or browsers mend it.
      passage.lastIndex = endOf(head, opened, found.index) ?? passage.lastIndex;
    }
  }
  return null;
}

/** The place after the end of a comment or an element; null where it has none. */
function endOf(head: string, opened: string, from: number): number | null {
  if (opened === '<!--') {
    const at = head.indexOf('-->', from + 2);
    return at < 0 ? null : at + 3;
  }
  const end = new RegExp(`</${opened.slice(1)}\\b`, 'gi');
  end.lastIndex = from;
  return end.exec(head) === null ? null : end.lastIndex;
}

/** What a tag declares in `charset`, or in `content` where that stands for the header; and where its attributes end. */
function readMeta(tag: string): { label: string | null; chars: number } {
  let charset: string | null = null;
  let content = '';
  let isHeader = false;
  let chars = 0;
  attribute.lastIndex = 0;
  for (let found = attribute.exec(tag); found !== null; found = attribute.exec(tag)) {
    if (tag.slice(chars, found.index).includes('>')) break;
    chars = attribute.lastIndex;
    const name = found[1]!.toLowerCase();
    const value = (found[2] ?? found[3] ?? found[4] ?? '').trim();
    if (name === 'charset') charset ??= value;
    else if (name === 'content') content ||= value;
    else if (name === 'http-equiv') isHeader ||= value.toLowerCase() === 'content-type';
  }
  // Some name the header wrongly, and write a type all the same.
  const isType = isHeader || /^(?:text|application)\/[a-z+]{3,20}\s?;/i.test(content);
  return { label: charset ?? (isType ? (inContent.exec(content)?.[1] ?? null) : null), chars };
}
