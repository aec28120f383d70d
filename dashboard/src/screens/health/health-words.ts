import type { Answer, Item } from '../../api/client.ts';
import { timeMode } from '../../parts/choices.ts';
import { plural } from '../../parts/format.ts';
import { timeText } from '../../parts/times.ts';
import type { Tone } from '../../parts/tones.ts';

/** How everything does, as the server found it. */
export type Diagnosis = Answer<'getDiagnosis'>;
/** What one look found. */
export type Finding = Diagnosis['findings'][number];
/** A process of the engine. */
export type Process = Answer<'listWorkers'>['items'][number];
/** One of its loops. */
export type Loop = Process['loops'][number];
/** Something an operator did. */
export type AuditEntry = Item<'listAudit'>;

/** A state by its tone and its word. */
export type Mark = { tone: Tone; word: string };

const findingMarks: Readonly<Record<Finding['state'], Mark>> = {
  ok: { tone: 'ok', word: 'fine' },
  warn: { tone: 'warn', word: 'look at it' },
  fail: { tone: 'fail', word: 'broken' },
};

/** How good a finding is. */
export const findingMark = ({ state }: Pick<Finding, 'state'>): Mark => findingMarks[state];

const overallMarks: Readonly<Record<Diagnosis['state'], Mark>> = {
  ok: { tone: 'ok', word: 'All is well' },
  warn: { tone: 'warn', word: 'Needs a look' },
  fail: { tone: 'fail', word: 'Something is broken' },
};

/** How good everything is together. */
export const overallMark = ({ state }: Diagnosis): Mark => overallMarks[state];

/** Everything in a sentence. */
export function overallText({ findings }: Diagnosis): string {
  const count = (state: Finding['state']): number => findings.filter((one) => one.state === state).length;
  const [failed, warned] = [count('fail'), count('warn')];
  if (failed + warned === 0) return `${plural(findings.length, 'check')} found nothing wrong.`;
  const parts = [
    ...(failed > 0 ? [`${plural(failed, 'thing')} ${failed === 1 ? 'does' : 'do'} not work`] : []),
    ...(warned > 0
      ? [`${failed > 0 ? warned : plural(warned, 'thing')} ${warned === 1 ? 'needs' : 'need'} a look`]
      : []),
  ];
  return `${parts.join(', ')}; ${plural(count('ok'), 'check')} found nothing wrong.`;
}

/** Times inside a sentence of the server as the reader wants times. "Since 2 min ago" is no English, so never relative. */
export const tellTimes = (sentence: string): string =>
  sentence.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (at) =>
    timeText(new Date(at), timeMode.value === 'utc' ? 'utc' : 'local', 0),
  );

/** Whether a process works, from its heartbeats. */
export function processMark(process: Process): Mark {
  if (!process.isKnown) return { tone: 'warn', word: 'unknown' };
  if (!process.isAlive) return { tone: 'fail', word: 'silent' };
  if (process.isAway) return { tone: 'warn', word: 'reaches nobody' };
  return { tone: 'ok', word: 'alive' };
}

/** A process by what it is and where. */
export const processName = ({ role, host, pid, id }: Process): string =>
  role === null ? id : `${role} ${pid} on ${host}`;

const loopMarks: Readonly<Record<Loop['state'], Mark>> = {
  ok: { tone: 'ok', word: 'turns' },
  failing: { tone: 'warn', word: 'fails' },
  broken: { tone: 'fail', word: 'broken' },
  still: { tone: 'fail', word: 'stands still' },
};

/** How a loop does. */
export const loopMark = ({ state }: Pick<Loop, 'state'>): Mark => loopMarks[state];

/** The loops of a process that are not well. */
export const troubledLoops = ({ loops }: Process): Loop[] => loops.filter((one) => one.state !== 'ok');
