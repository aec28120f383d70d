export {
  type AddressGuard,
  createAddressGuard,
  createHttpClient,
  type Failure,
  type HttpClient,
  type HttpResult,
  parseHostsFile,
  parseRetryAfter,
  unpackPage,
} from './client/index.ts';
export { Fetcher, type FetcherOptions } from './fetcher.ts';
export { type FoundTotals, nothingFound, submitFound } from './found.ts';
export type { PageRenderer, RenderedPage, RenderRequest } from './rendering.ts';
export { type PageSample, samplePage } from './sample-page.ts';
