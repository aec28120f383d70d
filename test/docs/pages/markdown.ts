/** A cell of a table: one line, and no bar that would end it. */
export const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ').trim();

/** Words as code. */
export const code = (text: string): string => `\`${text}\``;

/** A table; nothing where it would have no rows. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return [];
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return ['', line(heads), `|${'---|'.repeat(heads.length)}`, ...rows.map(line)];
}

/** What links call a heading, as GitHub makes it of its words. */
export function anchorOf(heading: string): string {
  const words = heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim()
    .toLowerCase();
  return words.replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, '').replace(/\s/g, '-');
}
