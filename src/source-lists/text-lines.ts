/**
 * A line without its end; `cut` says that it was longer than the limit and its end is lost, `goesOn` that this is a part
 * of it.
 */
export type TextLine = { line: number; text: string; cut: boolean; goesOn?: true };

/**
 * Splits chunks of text into numbered lines, whatever they end with: some spreadsheets still write a lone carriage
 * return. Only `most` characters of a line are kept, so memory stays bounded. With `tagsFrom`, a line of more characters
 * comes in parts that end behind a tag: programs write all of an XML file into one line.
 */
export async function* readTextLines(
  chunks: AsyncIterable<string> | Iterable<string>,
  most: number,
  tagsFrom = Number.POSITIVE_INFINITY,
): AsyncGenerator<TextLine> {
  let parts: string[] = [];
  let length = 0;
  let line = 0;
  // The chunk before ended in a carriage return: a line feed that begins this one belongs to it.
  let isAfterReturn = false;
  const take = (piece: string): void => {
    if (length < most && piece !== '') parts.push(piece.slice(0, most - length));
    length += piece.length;
  };
  const finish = (): TextLine => {
    line += 1;
    const done = { line, text: parts.join(''), cut: length > most };
    parts = [];
    length = 0;
    return done;
  };
  for await (const chunk of chunks) {
    if (chunk === '') continue;
    let start = isAfterReturn && chunk.startsWith('\n') ? 1 : 0;
    const ends = /\r\n?|\n/g;
    ends.lastIndex = start;
    for (let end = ends.exec(chunk); end !== null; end = ends.exec(chunk)) {
      take(chunk.slice(start, end.index));
      start = ends.lastIndex;
      yield finish();
    }
    isAfterReturn = chunk.endsWith('\r');
    take(chunk.slice(start));
    if (length < tagsFrom || length > most) continue;
    const text = parts.join('');
    const behindTag = text.lastIndexOf('>') + 1;
    if (behindTag === 0) continue;
    parts = [text.slice(behindTag)];
    length -= behindTag;
    yield { line: line + 1, text: text.slice(0, behindTag), cut: false, goesOn: true };
  }
  if (length > 0) yield finish();
}
