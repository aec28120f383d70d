/** A URL of a list, with the line it stands on. */
export type ImportLine = { line: number; url: string; priority?: number; kind?: 'article' | 'listing' };

/** What a pasted list holds, before the server has seen it. */
export type ImportCheck = {
  urls: ImportLine[];
  duplicates: number;
  bad: { line: number; text: string; reason: string }[];
  /** Lines beyond those that are read. */
  left: number;
};

const mostLines = 100_000;

/**
 * Reads one address a line, or CSV with a head that names `url` and perhaps `priority` and `kind`. Without a head the
 * whole line is the address: addresses may have commas.
 */
export function readLines(text: string): ImportCheck {
  const check: ImportCheck = { urls: [], duplicates: 0, bad: [], left: 0 };
  const seen = new Set<string>();
  let head: Head | null = null;
  let isFirst = true;
  for (const [index, raw] of text.split(/\r\n|\n|\r/).entries()) {
    const row = raw.trim();
    if (row === '' || row.startsWith('#')) continue;
    if (isFirst) {
      isFirst = false;
      head = headOf(row);
      if (head !== null) continue;
    }
    if (check.urls.length + check.bad.length + check.duplicates >= mostLines) {
      check.left += 1;
      continue;
    }
    const line = index + 1;
    const read = readRow(row, head);
    if (typeof read === 'string') check.bad.push({ line, text: row.slice(0, 300), reason: read });
    else if (seen.has(read.url)) check.duplicates += 1;
    else {
      seen.add(read.url);
      check.urls.push({ line, ...read });
    }
  }
  return check;
}

type Head = { separator: string; url: number; priority: number; kind: number };

function headOf(row: string): Head | null {
  for (const separator of [',', ';', '\t']) {
    const names = fieldsOf(row, separator).map((name) => name.trim().toLowerCase());
    const url = names.indexOf('url');
    if (url >= 0) return { separator, url, priority: names.indexOf('priority'), kind: names.indexOf('kind') };
  }
  return null;
}

/** The fields of a line of CSV; in quotes a quote is written twice. */
function fieldsOf(row: string, separator: string): string[] {
  const fields: string[] = [];
  let field = '';
  let isQuoted = false;
  for (let at = 0; at < row.length; at += 1) {
    const sign = row[at]!;
    if (sign === '"' && isQuoted && row[at + 1] === '"') {
      field += '"';
      at += 1;
    } else if (sign === '"') isQuoted = !isQuoted;
    else if (sign === separator && !isQuoted) {
      fields.push(field);
      field = '';
    } else field += sign;
  }
  return [...fields, field];
}

/** The URL of a line, or why it is none. */
function readRow(row: string, head: Head | null): Omit<ImportLine, 'line'> | string {
  const fields = head === null ? [row] : fieldsOf(row, head.separator);
  const url = addressOf((fields[head?.url ?? 0] ?? '').trim());
  if (url === null) return 'is no web address';
  const priority = (fields[head?.priority ?? -1] ?? '').trim();
  const kind = (fields[head?.kind ?? -1] ?? '').trim().toLowerCase();
  if (priority !== '' && !/^([1-9]|10)$/.test(priority)) return 'has a priority that is not 1 to 10';
  if (kind !== '' && kind !== 'article' && kind !== 'listing')
    return 'has a kind other than article or listing';
  return {
    url,
    ...(priority === '' ? {} : { priority: Number(priority) }),
    ...(kind === '' ? {} : { kind }),
  };
}

function addressOf(text: string): string | null {
  const whole = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`;
  if (!URL.canParse(whole) || /\s/.test(text)) return null;
  const { protocol, hostname } = new URL(whole);
  const isWeb = protocol === 'https:' || protocol === 'http:';
  return isWeb && (hostname.includes('.') || hostname.startsWith('[')) ? whole : null;
}
