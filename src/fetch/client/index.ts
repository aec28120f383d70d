export { type AddressGuard, createAddressGuard } from './address-guard.ts';
export { createHttpClient, type HttpClient, type HttpClientStats } from './client.ts';
export { unpackPage } from './content-decoding.ts';
export { type HostsEntry, type HostsTable, parseHostsFile } from './hosts-table.ts';
export { Recording, RecordingRoom } from './recording.ts';
export {
  type Failure,
  type FailureKind,
  HttpBodyError,
  type HttpClientOptions,
  type HttpRequest,
  type HttpResult,
  type HttpStreamResult,
  type NetworkLimits,
  type ResponseHeaders,
  type Timings,
} from './result.ts';
export { retryAfterOf } from './retry-after.ts';
