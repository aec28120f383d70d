/** A piece of a passage; marked where it is a word that was searched for. */
export type Piece = { text: string; isMarked: boolean };

/** Takes a passage apart at the marks « and » that the server sets around matches. */
export function piecesOf(snippet: string): Piece[] {
  const pieces: Piece[] = [];
  for (const [index, part] of snippet.split('«').entries()) {
    const end = index === 0 ? -1 : part.indexOf('»');
    if (end >= 0) pieces.push({ text: part.slice(0, end), isMarked: true });
    const rest = part.slice(end + 1);
    if (rest !== '') pieces.push({ text: rest, isMarked: false });
  }
  return pieces;
}
