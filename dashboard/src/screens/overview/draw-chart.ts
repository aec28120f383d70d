import './known-language.ts';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { axisTime } from '../../parts/chart-times.ts';
import type { Chart, Line } from './charts.ts';

type Options = {
  host: HTMLElement;
  chart: Chart;
  times: number[];
  isUtc: boolean;
  /** Told which step the pointer is at; null: none. */
  point: (index: number | null) => void;
};

const height = 190;
// About as wide as a letter of the font below is.
const letterWidth = 7;
const font = '12px system-ui, sans-serif';

/** Draws a chart into an element; the answer can be resized, given other numbers, and taken away. */
export function drawChart(options: Options): uPlot {
  const { host, chart, times, isUtc, point } = options;
  const colour = colourReader(host);
  const hasRight = chart.lines.some((line) => line.isBehind);
  const axis = { font, stroke: colour('var(--quiet)'), ticks: { show: false } };
  const grid = { stroke: colour('var(--edge)'), width: 1 };
  const span = (times.at(-1) ?? 0) - (times[0] ?? 0);
  const scale: uPlot.Axis = {
    ...axis,
    grid,
    size: (_, texts) => 16 + letterWidth * Math.max(2, ...(texts ?? []).map((text) => text.length)),
    space: 36,
    incrs: chart.marks,
    values: (_, splits) => splits.map(chart.text),
  };
  const fromZero: uPlot.Scale.Range = (_, __, most) => [0, most > 0 ? most * 1.08 : 1];
  return new uPlot(
    {
      width: host.clientWidth,
      height,
      legend: { show: false },
      padding: [8, hasRight ? 0 : 16, 0, 0],
      cursor: { y: false, drag: { x: false, y: false }, sync: { key: 'overview', setSeries: false } },
      scales: { x: { time: true }, y: { range: fromZero }, behind: { range: fromZero } },
      axes: [
        {
          ...axis,
          grid: { show: false },
          size: 28,
          space: 64,
          values: (_, at) => at.map((one) => axisTime(one, span, isUtc)),
        },
        { ...scale, scale: 'y' },
        ...(hasRight ? [{ ...scale, scale: 'behind', side: 1, grid: { show: false } } as const] : []),
      ],
      series: [{}, ...drawnLines(chart).map((line) => seriesOf(line, chart.isStacked, colour))],
      // Days begin where the reader's do.
      ...(isUtc ? { tzDate: (at: number) => uPlot.tzDate(new Date(at * 1000), 'Etc/UTC') } : {}),
      hooks: { setCursor: [({ cursor }) => point(cursor.idx ?? null)] },
    },
    dataOf(chart, times),
    host,
  );
}

/** The numbers as they are drawn: a stack's lines are sums of what lies below, the highest first. */
export function dataOf(chart: Chart, times: number[]): uPlot.AlignedData {
  if (!chart.isStacked) return [times, ...chart.lines.map((line) => line.values)];
  const sums: (number | null)[][] = [];
  for (const { values } of chart.lines) {
    const below = sums.at(-1);
    sums.push(values.map((value, index) => (value === null ? null : value + (below?.[index] ?? 0))));
  }
  return [times, ...sums.reverse()];
}

/** The highest of a stack is drawn first; each lower one covers what is not its own. */
const drawnLines = ({ lines, isStacked }: Chart): Line[] => (isStacked ? lines.toReversed() : lines);

function seriesOf(line: Line, isStacked: boolean, colour: (css: string) => string): uPlot.Series {
  const stroke = colour(`var(${line.colour})`);
  const own = isStacked
    ? {
        fill: colour(`color-mix(in srgb, var(${line.colour}) 55%, var(--surface))`),
        paths: uPlot.paths.stepped!({ align: 1 }),
      }
    : line.isBehind
      ? { fill: colour(`color-mix(in srgb, var(${line.colour}) 18%, transparent)`), scale: 'behind' }
      : {};
  return {
    label: line.name,
    stroke,
    width: isStacked || line.isBehind ? 1 : 2,
    ...own,
    ...(line.dash === undefined ? {} : { dash: line.dash }),
    // A single step between gaps has no line.
    points: { show: true, size: 5, fill: stroke, filter: (chart, index) => lonely(chart.data[index] ?? []) },
  };
}

function lonely(values: ArrayLike<number | null | undefined>): number[] {
  const found: number[] = [];
  for (let index = 0; index < values.length; index += 1)
    if (values[index] != null && values[index - 1] == null && values[index + 1] == null) found.push(index);
  return found;
}

/** Colours of the stylesheet as a canvas knows them: only an element tells which of light and dark is meant. */
function colourReader(host: HTMLElement): (css: string) => string {
  const probe = document.createElement('span');
  host.append(probe);
  const style = getComputedStyle(probe);
  queueMicrotask(() => probe.remove());
  return (css) => {
    probe.style.color = css;
    return style.color;
  };
}
