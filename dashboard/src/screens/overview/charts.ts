import type { Answer } from '../../api/client.ts';
import { countText, plural, spanText } from '../../parts/format.ts';

type Series = Answer<'getOverviewSeries'>;
type Point = Series['points'][number];

/** How far the charts reach back. */
export const spans = [
  { key: '1h', label: '1 hour', words: 'the last hour' },
  { key: '24h', label: '24 hours', words: 'the last 24 hours' },
  { key: '7d', label: '7 days', words: 'the last 7 days' },
] as const;
export type SpanKey = Series['span'];

/** A line of a chart. Null is a gap: nobody looked, or there was nothing to measure. */
export type Line = {
  name: string;
  /** A variable of the stylesheet. */
  colour: string;
  values: (number | null)[];
  dash?: number[];
  /** Drawn as an area, on a scale of its own at the right. */
  isBehind?: boolean;
};

/** A chart as it is drawn, told and written as a table. */
export type Chart = {
  key: string;
  title: string;
  /** What a value is, under the title. */
  note: string;
  /** What can be seen, in words. */
  gist: string;
  lines: Line[];
  /** The lines add up to a whole. */
  isStacked: boolean;
  text: (value: number) => string;
  /** Distances between marks of the scale that read well. */
  marks: number[];
  none: string;
};

const counting = [1, 2, 5].flatMap((step) => Array.from({ length: 9 }, (_, power) => step * 10 ** power));
const countMarks = counting.toSorted((a, b) => a - b);
const secondMarks = [
  1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400,
];
const stepWords = { '1h': 'per minute', '24h': 'per 5 minutes', '7d': 'per hour' } as const;

const sum = (
  points: readonly Point[],
  key: 'discovered' | 'fetched' | 'documents' | 'failed' | 'dead',
): number => points.reduce((all, point) => all + point[key], 0);
const latest = (values: readonly (number | null)[]): number | null =>
  values.findLast((value) => value !== null) ?? null;

/** Whether anybody was there in a step: where nobody looked and nothing was done there is a gap and no zero. */
const wasSeen = (point: Point): boolean =>
  point.backlog !== null || point.requests > 0 || point.discovered > 0;

/** The charts of a span. The step under way is left out while there are others: half a step looks like a fall. */
export function chartsOf(series: Series): { times: number[]; charts: Chart[] } {
  const { points, span } = series;
  const done = points.slice(0, -1);
  const shown = withoutBefore(done.some(wasSeen) ? done : points);
  const over = spans.find(({ key }) => key === span)!.words;
  return {
    times: shown.map(({ at }) => Date.parse(at) / 1000),
    charts: [
      inAndOut(shown, over, stepWords[span]),
      outcomes(shown, over, stepWords[span]),
      latency(shown, over),
      delay(shown, over),
    ],
  };
}

// A young installation has little to show: its first minutes should not be a dot at the edge of an empty hour.
const leastSteps = 10;

/** The steps from the first that anybody saw on. */
function withoutBefore(points: readonly Point[]): readonly Point[] {
  const first = points.findIndex(wasSeen);
  return first <= 0 ? points : points.slice(Math.max(0, Math.min(first, points.length - leastSteps)));
}

const counted =
  (points: readonly Point[]) =>
  (key: 'discovered' | 'fetched' | 'documents' | 'unchanged' | 'duplicate' | 'failed' | 'dead') =>
    points.map((point) => (wasSeen(point) ? point[key] : null));

function inAndOut(points: readonly Point[], over: string, note: string): Chart {
  const of = counted(points);
  const backlog = points.map((point) => point.backlog);
  const now = latest(backlog);
  return {
    key: 'flow',
    title: 'In and out',
    note: `URLs ${note}; what waits is on the right scale`,
    gist: `In ${over} ${plural(sum(points, 'discovered'), 'URL')} discovered and ${countText(sum(points, 'fetched'))} fetched${now === null ? '' : `; ${countText(now)} waited at last`}.`,
    lines: [
      { name: 'waiting', colour: '--strong-edge', values: backlog, isBehind: true },
      { name: 'discovered', colour: '--info', values: of('discovered') },
      { name: 'fetched', colour: '--ok', values: of('fetched'), dash: [6, 3] },
    ],
    isStacked: false,
    text: countText,
    marks: countMarks,
    none: 'Nobody was at work in this time.',
  };
}

function outcomes(points: readonly Point[], over: string, note: string): Chart {
  const of = counted(points);
  return {
    key: 'outcomes',
    title: 'Outcomes',
    note: `Answers ${note}, by what became of them`,
    gist: `In ${over} ${plural(sum(points, 'documents'), 'document')}, ${countText(sum(points, 'failed'))} failed and ${countText(sum(points, 'dead'))} dead.`,
    lines: [
      { name: 'documents', colour: '--ok', values: of('documents') },
      { name: 'unchanged', colour: '--strong-edge', values: of('unchanged') },
      { name: 'duplicate', colour: '--info', values: of('duplicate') },
      { name: 'failed', colour: '--warn', values: of('failed') },
      { name: 'dead', colour: '--fail', values: of('dead') },
    ],
    isStacked: true,
    text: countText,
    marks: countMarks,
    none: 'Nobody was at work in this time.',
  };
}

const told = (value: number | null, text: (value: number) => string): string =>
  value === null ? 'not known' : text(value);

function latency(points: readonly Point[], over: string): Chart {
  const half = points.map((point) => point.latencyP50Ms);
  const most = points.map((point) => point.latencyP95Ms);
  const text = (value: number): string => spanText(value / 1000);
  return {
    key: 'latency',
    title: 'Fetch latency',
    note: 'How long sites take to answer',
    gist: `Over ${over}, at last half of the answers took at most ${told(latest(half), text)}, and 95 in 100 at most ${told(latest(most), text)}.`,
    lines: [
      { name: 'half (p50)', colour: '--accent', values: half },
      { name: '95 in 100 (p95)', colour: '--warn', values: most, dash: [6, 3] },
    ],
    isStacked: false,
    text,
    marks: countMarks,
    none: 'No site was asked in this time.',
  };
}

function delay(points: readonly Point[], over: string): Chart {
  const half = points.map((point) => point.delayP50Seconds);
  return {
    key: 'delay',
    title: 'Discovery delay',
    note: 'How long after publication half of the items were found',
    gist: `Over ${over}, at last half of the items were found within ${told(latest(half), spanText)} of their publication.`,
    lines: [{ name: 'half (p50)', colour: '--accent', values: half }],
    isStacked: false,
    text: spanText,
    marks: secondMarks,
    none: 'No new items with a date were found in this time.',
  };
}

/** Whether there is anything to draw. */
export const isEmpty = ({ lines }: Chart): boolean =>
  lines.every(({ values }) => values.every((value) => value === null));
