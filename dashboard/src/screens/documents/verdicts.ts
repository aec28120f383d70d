import type { Input } from '../../api/client.ts';
import type { Tone } from '../../parts/tones.ts';

/** Labels as the API takes them. */
export type Labels = NonNullable<Input<'classifyDocument'>['body']['labels']>;

/** How a verdict stands, in colour and word. */
export const verdictMarks: Readonly<Record<string, { tone: Tone; word: string }>> = {
  pending: { tone: 'quiet', word: 'not classified' },
  classified: { tone: 'ok', word: 'classified' },
  failed: { tone: 'warn', word: 'classifying failed' },
};

/** A value of a label as people read it. */
export const labelText = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : Array.isArray(value)
      ? value.map(labelText).join(', ')
      : JSON.stringify(value);

/** Labels as lines "name: value" to be edited; what is no plain text is written as JSON. */
export const linesOf = (labels: Record<string, unknown>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}: ${isPlain(value) ? value : JSON.stringify(value)}`)
    .join('\n');

// A text that would be read back as something else needs its quotes.
const isPlain = (value: unknown): value is string =>
  typeof value === 'string' && value === value.trim() && !value.includes('\n') && readValue(value) === value;

/** Reads such lines; a line that is none is told. */
export function parseLabels(text: string): { labels: Labels } | { wrong: string } {
  const labels: Labels = {};
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const [, name, value] = /^\s*([\w.:-]*[\w.-])\s*:\s+(.*)$/.exec(`${line} `) ?? [];
    if (name === undefined || value === undefined) return { wrong: line.trim() };
    labels[name] = readValue(value.trim());
  }
  return { labels };
}

function readValue(text: string): Labels[string] {
  try {
    const value: unknown = JSON.parse(text);
    const isScalar = (one: unknown): boolean => one === null || typeof one !== 'object';
    return (Array.isArray(value) ? value.every(isScalar) : isScalar(value))
      ? (value as Labels[string])
      : text;
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}
