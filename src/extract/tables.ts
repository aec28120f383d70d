import { type PageNode, TAG } from '../html/index.ts';
import type { Block } from './blocks.ts';

/** A table of data: the run of blocks that stand in it, row by row and cell by cell; a cell may be empty. */
export type DataTable = { from: number; to: number; rows: Block[][][] };

// Beyond these a table holds paragraphs side by side, as layouts of old pages do.
const MAX_CELL_BLOCKS = 4;
const MAX_CELL_WORDS = 60;

type Found = { table: PageNode; row: PageNode; cell: PageNode };

/** The tables of data among some blocks. A table around other tables is layout. */
export function findTables(blocks: readonly Block[]): DataTable[] {
  if (!blocks.some(({ cell }) => cell !== null)) return [];
  const places = blocks.map(({ cell }) => (cell === null ? null : placeOf(cell)));
  const around = new Set<PageNode>();
  const seen = new Set<PageNode>();
  for (const place of places) {
    if (place === null || seen.has(place.table)) continue;
    seen.add(place.table);
    for (let at = tableAround(place.table); at !== null && !around.has(at); at = tableAround(at))
      around.add(at);
  }
  const tables: DataTable[] = [];
  for (let from = 0; from < blocks.length; ) {
    const table = places[from]?.table ?? null;
    let to = from + 1;
    while (table !== null && to < blocks.length && places[to]?.table === table) to++;
    if (table !== null && !around.has(table)) {
      const rows = rowsOf(blocks, places, from, to);
      if (isData(rows)) tables.push({ from, to, rows });
    }
    from = to;
  }
  return tables;
}

function placeOf(cell: PageNode): Found | null {
  const row = cell.parent;
  const table = row === null ? null : tableAround(row);
  return row?.tag !== 'tr' || table === null ? null : { table, row, cell };
}

function tableAround(node: PageNode): PageNode | null {
  let at = node.parent;
  while (at !== null && at.tag !== 'table') at = at.parent;
  return at;
}

function rowsOf(
  blocks: readonly Block[],
  places: readonly (Found | null)[],
  from: number,
  to: number,
): Block[][][] {
  const rows: Block[][][] = [];
  for (let i = from; i < to; i++) {
    const [place, before] = [places[i]!, i === from ? null : places[i - 1]!];
    if (place.row !== before?.row) rows.push([]);
    const row = rows[rows.length - 1]!;
    if (place.cell !== before?.cell) {
      const last = place.row === before?.row ? before.cell : null;
      for (let empty = cellsBetween(last, place); empty > 0; empty--) row.push([]);
      row.push([]);
    }
    row[row.length - 1]!.push(blocks[i]!);
  }
  return rows;
}

/** How many cells stand between two of a row, or before the first. */
function cellsBetween(last: PageNode | null, { row, cell }: Found): number {
  let count = 0;
  for (let at = last === null ? row.first : last.next; at !== null && at !== cell; at = at.next)
    if ((at.flags & TAG.cell) !== 0) count++;
  return count;
}

/** The rows of a table as lines, its cells parted by bars. */
export function writeTable({ rows }: DataTable): string {
  return rows.map((row) => row.map((cell) => cell.map(({ text }) => text).join(' ')).join(' | ')).join('\n');
}

const wordsIn = (cell: readonly Block[]) => cell.reduce((sum, { words }) => sum + words, 0);

function isData(rows: readonly Block[][][]): boolean {
  const wide = rows.filter((row) => row.filter((cell) => cell.length > 0).length >= 2).length;
  return (
    wide >= 2 &&
    wide * 2 >= rows.length &&
    rows.every((row) =>
      row.every((cell) => cell.length <= MAX_CELL_BLOCKS && wordsIn(cell) <= MAX_CELL_WORDS),
    )
  );
}
