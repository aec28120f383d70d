export { loadSeries, type Series, type SeriesPoint, type SeriesSpan, seriesSpans } from './series.ts';
