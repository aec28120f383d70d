export { type ChannelError, channelErrorOf, decideError } from './channel-outcome.ts';
export {
  type AddressGuard,
  createAddressGuard,
  createHttpClient,
  type Failure,
  type HttpClient,
  type HttpResult,
  parseHostsFile,
  retryAfterOf,
  unpackPage,
} from './client/index.ts';
export { Fetcher, type FetcherOptions } from './fetcher.ts';
export { type FoundTotals, nothingFound, submitFound } from './found.ts';
export { type Cooldowns, DomainLessons, type LessonLease } from './lessons.ts';
export {
  type Decision,
  type DomainSignal,
  decideFailure,
  decideStatus,
  type RowFacts,
  tellsOfDomain,
  type Verdict,
} from './outcome.ts';
export { decidePoll, type PollDecision, type PollInput } from './poll-schedule.ts';
export type { PageRenderer, RenderedPage, RenderRequest } from './rendering.ts';
export { robotsLife } from './robots-gate.ts';
export { acceptsPages } from './row-request.ts';
export { type RunOptions, runOptionsOf } from './run-options.ts';
export { type PageSample, samplePage } from './sample-page.ts';
