const options = 'MaxFragments=1, MaxWords=22, MinWords=8, StartSel=«, StopSel=»';
const mostWords = 8;

/**
 * Beginnings of the words a query asks for, by which passages are found. Endings are cut off, as a stem or another form
 * of the word may stand in the text.
 */
export function beginningsOf(query: string): string[] {
  const words = query.toLowerCase().match(/(?<![\p{L}\p{N}])-?[\p{L}\p{N}]+/gu) ?? [];
  const beginnings = words
    .filter((word) => !word.startsWith('-') && word !== 'or')
    .map((word) => (word.length <= 4 ? word : word.slice(0, Math.max(4, word.length - 3))));
  return [...new Set(beginnings)].slice(0, mostWords);
}

/**
 * The words and phrases that a query excludes, as a query for any of them; null where it excludes none. With "or" in it
 * nobody could say of which part they are.
 */
export function excludedOf(query: string): string | null {
  if (/(?<!\S)or(?!\S)/i.test(query.replace(/"[^"]*"/g, '""'))) return null;
  const found = query.matchAll(/(?<![^\s])-+("[^"]*"?|[\p{L}\p{N}][^\s"]*)/gu);
  const excluded = [...found].map(([, term]) =>
    term!.startsWith('"') ? `"${term!.replaceAll('"', '')}"` : term,
  );
  return excluded.length === 0 ? null : excluded.join(' or ');
}

/**
 * The passage of a document `d` that answers a query best, as a lateral join that gives `h.snippet`; `beginnings` is the
 * place of those of the query, `runs` that of what it has in scripts without spaces, which the server cannot mark. The server parses all it is given, so it is given what stands around the first of each
 * word (a third of a search's time was here); where that holds no match, or none was found, the whole text. Quotation marks
 * that a text has of the kind we mark by become others, so that what is marked is always a match.
 */
export const snippetJoin = (asked: string, beginnings: string, runs: string): string => `
       CROSS JOIN LATERAL (SELECT translate(left(d.text, 20000), '«»', '“”') AS text OFFSET 0) t
       CROSS JOIN LATERAL (SELECT ' ' || lower(t.text) AS text OFFSET 0) l
       CROSS JOIN LATERAL (
         SELECT string_agg(substring(t.text FROM greatest(a.place - 200, 1) FOR 500), ' … ') AS text
           FROM (SELECT DISTINCT strpos(l.text, ' ' || b.word) AS place FROM unnest(${beginnings}::text[]) b(word)) a
          WHERE a.place > 0 OFFSET 0) w
       CROSS JOIN LATERAL (SELECT ts_headline('simple', w.text, ${asked}, '${options}') AS text OFFSET 0) p
       CROSS JOIN LATERAL (
         SELECT coalesce(
           CASE WHEN strpos(p.text, '«') > 0 THEN p.text END,
           (SELECT replace(substring(t.text FROM greatest(strpos(t.text, r.run) - 40, 1) FOR 120), r.run, '«' || r.run || '»')
              FROM unnest(${runs}::text[]) r(run) WHERE strpos(t.text, r.run) > 0 LIMIT 1),
           ts_headline('simple', t.text, ${asked}, '${options}')) AS snippet
         OFFSET 0) h`;
