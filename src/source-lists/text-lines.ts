/** A line without its end; `cut` says that it was longer than the limit and its end is lost. */
export type TextLine = { line: number; text: string; cut: boolean };

/** Splits chunks of text into numbered lines; only `most` characters of a line are kept, so memory stays bounded. */
export async function* readTextLines(
  chunks: AsyncIterable<string> | Iterable<string>,
  most: number,
): AsyncGenerator<TextLine> {
  let parts: string[] = [];
  let length = 0;
  let line = 0;
  const take = (piece: string): void => {
    if (length < most && piece !== '') parts.push(piece.slice(0, most - length));
    length += piece.length;
  };
  const finish = (): TextLine => {
    line += 1;
    const done = { line, text: parts.join('').replace(/\r$/, ''), cut: length > most };
    parts = [];
    length = 0;
    return done;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', start)) {
      take(chunk.slice(start, end));
      start = end + 1;
      yield finish();
    }
    take(chunk.slice(start));
  }
  if (length > 0) yield finish();
}
