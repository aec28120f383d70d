export {
  type ActionKind,
  type ActionTarget,
  type Attention,
  actionKinds,
  type Screen,
  screens,
} from './attention.ts';
export type { OverviewCounts } from './counts.ts';
export { type Found, type FoundKind, find, foundKinds } from './find.ts';
export type { Flow } from './flow.ts';
export { loadOverview, type Overview } from './overview.ts';
export { loadSeries, type Series, type SeriesPoint, type SeriesSpan, seriesSpans } from './series.ts';
