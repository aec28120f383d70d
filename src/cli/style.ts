/** Whether a stream takes colours: a terminal that nobody has asked to be plain (https://no-color.org). */
export function takesColour(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv = process.env): boolean {
  return stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
}

const codes = { bold: '1', dim: '2', red: '31', green: '32', yellow: '33' } as const;

/** Paints text for a terminal; leaves it alone everywhere else. */
export function paint(style: keyof typeof codes, text: string, stream = process.stdout): string {
  return takesColour(stream) ? `\u001b[${codes[style]}m${text}\u001b[0m` : text;
}
