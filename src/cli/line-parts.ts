/** A part of a list of lines. */
export type LinePart = {
  text: string;
  /** Number of its first line in the whole list. */
  firstLine: number;
};

/**
 * Cuts a list at the ends of lines into parts of so many characters, in bounded memory. A line that is longer than a
 * part is cut too: nobody reads one of that length.
 */
export async function* cutIntoParts(
  chunks: AsyncIterable<Uint8Array>,
  mostChars: number,
): AsyncGenerator<LinePart> {
  // Decoded here, so that a character cut in two is put together again.
  const decoder = new TextDecoder();
  let firstLine = 1;
  let rest = '';
  const cut = (): LinePart => {
    const lineEnd = rest.lastIndexOf('\n', mostChars - 1);
    const end = rest.length <= mostChars ? rest.length : lineEnd === -1 ? mostChars : lineEnd + 1;
    const part = { text: rest.slice(0, end), firstLine };
    rest = rest.slice(end);
    firstLine += part.text.split('\n').length - 1;
    return part;
  };
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    while (rest.length > mostChars) yield cut();
  }
  rest += decoder.decode();
  while (rest !== '') yield cut();
}
