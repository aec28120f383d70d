import type { Answer } from '../../api/client.ts';
import { plural, spanText } from '../../parts/format.ts';
import type { Mark } from './health-words.ts';

/** A place where documents go. */
export type Sink = Answer<'listSinks'>['items'][number];

// From here on a sink is behind; the diagnosis draws the line at the same place.
const lagSeconds = 15 * 60;

/** How long the eldest that waits has waited. */
export const lagOf = ({ waitingSince }: Sink, nowMs: number): number | null =>
  waitingSince === null ? null : Math.max(0, (nowMs - Date.parse(waitingSince)) / 1000);

/** How a sink does, in a word. */
export function sinkMark(sink: Sink, nowMs: number = Date.now()): Mark {
  if (!sink.enabled) return { tone: 'warn', word: 'paused' };
  if (sink.failingSince !== null) return { tone: 'fail', word: 'fails' };
  if ((lagOf(sink, nowMs) ?? 0) > lagSeconds) return { tone: 'warn', word: 'behind' };
  if (sink.deadLetters > 0) return { tone: 'warn', word: 'refused some' };
  return { tone: 'ok', word: 'keeps up' };
}

const takenWords = { documents: 'document', responses: 'response' } as const;

/** So many of what a sink takes. */
export const taken = ({ takes }: Sink, count: number): string => plural(count, takenWords[takes]);

/** How a sink does, in a sentence or two. */
export function sinkText(sink: Sink, nowMs: number): string {
  const waits =
    sink.waiting === 0
      ? 'nothing waits'
      : `${taken(sink, sink.waiting)} ${sink.waiting === 1 ? 'waits' : 'wait'}`;
  if (!sink.enabled)
    return `It is paused: nothing is delivered, and nothing new is kept for it. A replay brings what it missed.`;
  const lag = lagOf(sink, nowMs);
  const eldest = lag === null ? '' : `, the eldest for ${spanText(lag)}`;
  if (sink.failingSince !== null)
    return `It has failed for ${spanText((nowMs - Date.parse(sink.failingSince)) / 1000)}; ${waits}${eldest}. Nothing is lost: what waits is delivered when it answers again.`;
  if (sink.deliverer === null && sink.waiting > 0)
    return `Nobody delivers to it now, and ${waits}${eldest}. Is a schedule process running with its settings?`;
  const refused = sink.deadLetters === 0 ? '' : ` It refused ${taken(sink, sink.deadLetters)} for good.`;
  if (sink.waiting > 0) return `${waits}${eldest}.${refused}`;
  return sink.deadLetters === 0 ? 'It has everything.' : `Nothing waits.${refused}`;
}
