import { createMetrics } from '../../../src/telemetry/index.ts';
import { code, table } from './markdown.ts';

/** What a person does with each metric; a test wants a line for every one. */
export const metricAdvice: Readonly<Record<string, string>> = {
  outrider_submitted_items_total:
    'How much is found. `inserted` that stays at 0 for hours: look at `outrider channels`.',
  outrider_requests_total:
    'All that leaves. A growing share of anything but `response` and `not_modified` is a network, a name server or a publisher in trouble; [outcomes](outcomes.md) says what each word means.',
  outrider_refused_links_total:
    'What the spider and channels leave alone, by [reason](../guides/domains.md#spider). Much `trap` is good news; much `depth` may mean that a source needs `--depth`. Items of channels count with each poll that lists them.',
  outrider_response_bytes_total: 'Traffic, for the bill.',
  outrider_settled_urls_total:
    'The rate of work. `dead` above `fetched` for long: `outrider urls --status dead`.',
  outrider_stale_settles_total:
    'Leases that were lost: a machine that was suspended, or a database that stood still. Some are harmless; many mean that `fetch.lease_seconds` is too short for it.',
  outrider_role_restarts_total:
    'Any but `memory` now and then: `outrider doctor` tells when and why, the log of the role what it was doing.',
  outrider_stalls_total: 'One is a bug or a machine that stood still; the log has the stack of what blocked.',
  outrider_memory_limit_bytes: 'Compare it with `process_resident_memory_bytes`.',
  outrider_documents_total: 'What it is all for. No `new` for longer than is usual: alert.',
  outrider_images_total: '`unavailable`: the blob store cannot be reached; images wait, pages go on.',
  outrider_rendered_pages_total: 'How rendering goes; `render_timeout` in number asks for more processor.',
  outrider_render_duration_seconds: 'How long pages take in a browser; near 15 s they are cut off.',
  outrider_browser_launches_total:
    'Browsers end after `render.pages_per_browser` pages; many more launches than that are crashes, mostly for want of memory.',
  outrider_jobs: '`failed` above 0: `outrider jobs --status failed`.',
  outrider_responses_total:
    'A rising share of `429` is publishers asking us to slow down; their domains do. If it stays, raise `fetch.default_delay_ms`.',
  outrider_job_executions_total:
    'Runs by how they ended; [rules for alerts](../../deploy/prometheus/jobs.yml) use it.',
  outrider_job_duration_seconds: 'How long runs take; they are ended at `jobs.max_minutes`.',
  outrider_job_stale_locks_total: 'Schedulers that ended in mid-run. Several a day: look at their memory.',
  outrider_request_duration_seconds:
    'How fast publishers answer. All of them slower at once is your own network.',
  outrider_poll_lateness_seconds:
    'Whether polls come in time. A median above a minute: more fetchers, or a longer interval.',
  outrider_discovery_delay_seconds:
    'How old news is when it is found; a shorter interval or WebSub makes it smaller.',
  outrider_websub_requests_total: 'Subscriptions asked for; refusals are shown by `outrider channels`.',
  outrider_websub_pushes_total: 'News that hubs bring; `unsigned` in number is somebody trying.',
  outrider_sink_deliveries_total: 'What sinks took; `rejected` became dead letters.',
  outrider_sink_failures_total: 'A sink that is away. It is tried again by itself; alert when it lasts.',
  outrider_sink_delay_seconds: 'How long after being stored documents arrive.',
  outrider_sink_waiting_documents:
    'Beyond `documents.max_undelivered` fetching slows. Alert at half of that.',
  outrider_sink_lag_seconds: 'The same as time. Alert from 15 minutes on.',
  outrider_sink_dead_letters: 'Above 0: `outrider sinks dead SINK` says why.',
  outrider_outage_suspected: '1: this machine has no network; nothing is held against publishers meanwhile.',
  outrider_fetching_slowed: '1: sinks are far behind, see `outrider sinks`.',
  outrider_leased_domains:
    'At `fetch.domains_at_once`, or at 16 with no time to spare, all the time: more fetchers would be of use.',
  outrider_domains: 'A sudden rise of `blocked` or `unreachable`: `outrider domain status --status blocked`.',
  outrider_expired_leases: 'Fetchers that were killed, for a minute. Not going down: no fetcher runs.',
  outrider_api_request_duration_seconds: 'Whether the API is quick; `5xx` above 0: its log.',
  outrider_api_refusals_total:
    '`sign_in_needed` in number is a program with an old token, or somebody trying.',
  outrider_job_distribution_score: 'Below 0.7 with many jobs: `outrider jobs rebalance --preview`.',
  outrider_loop_restarts_total: 'Loops that ended without being asked to: a bug, tell us. They go on.',
  outrider_loop_turns_total: 'Every loop of the process turns. One that stands still is shown by `/health`.',
  outrider_loop_errors_total: 'Turns that threw; the log has them. The loop goes on by itself.',
};

type Described = { name: string; help: string; type: string; labelNames?: readonly string[] };

/** Every metric that is ours, as the registry has it. */
export function listMetrics(): Described[] {
  const { registry, ...own } = createMetrics();
  registry.clear();
  const kinds = { Counter: 'counter', Gauge: 'gauge', Histogram: 'histogram' } as const;
  return Object.values(own)
    .map((metric) => {
      // The library keeps these fields to itself, and its JSON leaves labels out until one was used.
      const { name, help, labelNames } = metric as unknown as Described;
      return {
        name,
        help,
        labelNames: labelNames ?? [],
        type: kinds[metric.constructor.name as keyof typeof kinds],
      };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** docs/reference/metrics.md. */
export function renderMetrics(): string {
  const rows = listMetrics().map(({ name, type, labelNames, help }) => [
    code(name),
    type,
    (labelNames ?? []).map(code).join(', ') || '–',
    help,
    metricAdvice[name] ?? '',
  ]);
  return `${[
    '# Metrics',
    '',
    'Made from `src/telemetry/metrics.ts` by `scripts/write-reference.mjs`; a test keeps it in step.',
    '',
    'Every process has its own at `/metrics`, in the form Prometheus reads: the API on its port, the other roles on `--health-port` (`health.port`; `up` gives the scheduler that port and its fetchers the ones behind it). Programs on the same machine need no token ([access](../guides/api-access.md#prometheus)). Counters begin at 0 with the process, so use `rate()` or `increase()` over the sum of all. No label ever holds an address or a host. `process_*` and `nodejs_*` are those of Node: memory, processor, delay of the event loop.',
    '',
    'To begin with, watch four: `outrider_documents_total` (does news come in), `outrider_sink_lag_seconds` (does it arrive), `outrider_domains{status="blocked"}` (are we welcome), `outrider_loop_errors_total` (is all well inside). [Rules for jobs](../../deploy/prometheus/jobs.yml) are ready to use.',
    ...table(['metric', 'type', 'labels', 'what it counts', 'what to do with it'], rows),
  ].join('\n')}\n`;
}
