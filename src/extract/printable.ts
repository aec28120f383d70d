// Control characters but for tabs and ends of lines, and marks that turn the direction of all that follows: in a text
// they are mistakes or attacks on whoever prints it. Marks without effect on others (U+200E, U+200F) are spelling.
const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
const UNPRINTABLES = new RegExp(UNPRINTABLE, 'g');
// With more of them than this it is no text, which whoever judges it has to see.
const MOST_SHARE = 0.02;

/** A text that may be shown anywhere. */
export function printable(text: string): string {
  if (!UNPRINTABLE.test(text)) return text;
  const isText = (text.match(UNPRINTABLES)?.length ?? 0) <= Math.max(20, text.length * MOST_SHARE);
  return text.replace(UNPRINTABLES, isText ? '' : '\ufffd').trim();
}
