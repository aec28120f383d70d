import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** All metrics of a process. Names follow Prometheus: base units, `_total`; never a URL or host as label. */
export type Metrics = ReturnType<typeof createMetrics>;

/** Makes the registry with every metric the product has. */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  // Gauges that are named like counters; the same without _total, by type, says as much.
  for (const what of ['handles', 'requests', 'resources'])
    registry.removeSingleMetric(`nodejs_active_${what}_total`);
  return {
    registry,
    submitted: new Counter({
      name: 'outrider_submitted_items_total',
      help: 'Items submitted to the frontier, by answer.',
      labelNames: ['answer'],
      registers,
    }),
    requests: new Counter({
      name: 'outrider_requests_total',
      help: 'Requests that left this process, by outcome.',
      labelNames: ['outcome'],
      registers,
    }),
    responses: new Counter({
      name: 'outrider_responses_total',
      help: 'Answers of publishers, by the class of the status; 429 is one of its own, for it asks us to slow down.',
      labelNames: ['status'],
      registers,
    }),
    refusedLinks: new Counter({
      name: 'outrider_refused_links_total',
      help: 'Links of spidered pages that were not followed, and items of channels that were not taken, by reason.',
      labelNames: ['reason'],
      registers,
    }),
    responseBytes: new Counter({ name: 'outrider_response_bytes_total', help: 'Bytes received.', registers }),
    settled: new Counter({
      name: 'outrider_settled_urls_total',
      help: 'URLs settled, by status.',
      labelNames: ['status'],
      registers,
    }),
    staleSettles: new Counter({
      name: 'outrider_stale_settles_total',
      help: 'Settles refused because the lease was lost.',
      registers,
    }),
    documents: new Counter({
      name: 'outrider_documents_total',
      help: 'Documents stored, by what they were.',
      labelNames: ['change'],
      registers,
    }),
    images: new Counter({
      name: 'outrider_images_total',
      help: 'Images given to the blob store, by what it did: stored, or unavailable.',
      labelNames: ['outcome'],
      registers,
    }),
    renderedPages: new Counter({
      name: 'outrider_rendered_pages_total',
      help: 'Pages that were run in a browser, by what became of them.',
      labelNames: ['outcome'],
      registers,
    }),
    renderSeconds: new Histogram({
      name: 'outrider_render_duration_seconds',
      help: 'Time a page took in a browser.',
      buckets: [0.25, 0.5, 1, 2.5, 5, 10, 15, 20],
      registers,
    }),
    browserLaunches: new Counter({
      name: 'outrider_browser_launches_total',
      help: 'Browsers that were started.',
      registers,
    }),
    jobs: new Gauge({
      name: 'outrider_jobs',
      help: 'Jobs, by status.',
      labelNames: ['status'],
      registers,
    }),
    executions: new Counter({
      name: 'outrider_job_executions_total',
      help: 'Executions of jobs that this process ended, by how.',
      labelNames: ['outcome'],
      registers,
    }),
    executionSeconds: new Histogram({
      name: 'outrider_job_duration_seconds',
      help: 'How long executions of jobs took.',
      buckets: [1, 10, 60, 300, 900, 3600, 14_400, 43_200],
      registers,
    }),
    staleLocks: new Counter({
      name: 'outrider_job_stale_locks_total',
      help: 'Jobs that this process took from schedulers that were lost.',
      registers,
    }),
    requestSeconds: new Histogram({
      name: 'outrider_request_duration_seconds',
      help: 'Time until response headers.',
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    }),
    pollLateness: new Histogram({
      name: 'outrider_poll_lateness_seconds',
      help: 'Time between a channel being due and its request.',
      buckets: [0.1, 0.5, 1, 5, 15, 60, 300, 3600],
      registers,
    }),
    discoveryDelay: new Histogram({
      name: 'outrider_discovery_delay_seconds',
      help: 'Time between the publication of an item and its place in the frontier, of items found by a later poll than the first.',
      buckets: [5, 30, 60, 120, 300, 600, 900, 1800, 3600, 14_400, 86_400],
      registers,
    }),
    websubRequests: new Counter({
      name: 'outrider_websub_requests_total',
      help: 'Wishes sent to hubs, by what they made of them.',
      labelNames: ['outcome'],
      registers,
    }),
    websubPushes: new Counter({
      name: 'outrider_websub_pushes_total',
      help: 'Pushes from hubs, by what became of them.',
      labelNames: ['outcome'],
      registers,
    }),
    sinkDeliveries: new Counter({
      name: 'outrider_sink_deliveries_total',
      help: 'Document versions that sinks were given, by what they made of them.',
      labelNames: ['sink', 'outcome'],
      registers,
    }),
    sinkFailures: new Counter({
      name: 'outrider_sink_failures_total',
      help: 'Times that a sink as a whole took nothing.',
      labelNames: ['sink'],
      registers,
    }),
    sinkDelay: new Histogram({
      name: 'outrider_sink_delay_seconds',
      help: 'Time between a document being stored and being delivered.',
      labelNames: ['sink'],
      buckets: [0.5, 1, 2, 5, 15, 60, 300, 1800, 7200, 86_400],
      registers,
    }),
    sinkWaiting: new Gauge({
      name: 'outrider_sink_waiting_documents',
      help: 'Document versions that wait for a sink; set by the schedule role.',
      labelNames: ['sink'],
      registers,
    }),
    sinkLag: new Gauge({
      name: 'outrider_sink_lag_seconds',
      help: 'How long the eldest of them waits; set by the schedule role.',
      labelNames: ['sink'],
      registers,
    }),
    sinkDeadLetters: new Gauge({
      name: 'outrider_sink_dead_letters',
      help: 'Document versions that a sink would not take; set by the schedule role.',
      labelNames: ['sink'],
      registers,
    }),
    outage: new Gauge({
      name: 'outrider_outage_suspected',
      help: '1 while this process believes that its own network is down.',
      registers,
    }),
    crowded: new Gauge({
      name: 'outrider_fetching_slowed',
      help: '1 while this process fetches slowly because sinks are far behind.',
      registers,
    }),
    leasedDomains: new Gauge({
      name: 'outrider_leased_domains',
      help: 'Domains this process holds.',
      registers,
    }),
    domains: new Gauge({
      name: 'outrider_domains',
      help: 'Domains by status; set by the schedule role.',
      labelNames: ['status'],
      registers,
    }),
    leasesExpired: new Gauge({
      name: 'outrider_expired_leases',
      help: 'Leases past their end that nobody has taken over yet; set by the schedule role.',
      registers,
    }),
    apiSeconds: new Histogram({
      name: 'outrider_api_request_duration_seconds',
      help: 'Time the API took to answer, by the class of the status; streams are not counted.',
      labelNames: ['status'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    apiRefusals: new Counter({
      name: 'outrider_api_refusals_total',
      help: 'Requests the API would not serve, by why: sign_in_needed, forbidden, wrong_host, rate_limited.',
      labelNames: ['reason'],
      registers,
    }),
    jobDistribution: new Gauge({
      name: 'outrider_job_distribution_score',
      help: 'How evenly the runs of the next 24 hours are spread: 1 is even.',
      registers,
    }),
    loopTurns: new Counter({
      name: 'outrider_loop_turns_total',
      help: 'Turns of each loop.',
      labelNames: ['loop'],
      registers,
    }),
    loopRestarts: new Counter({
      name: 'outrider_loop_restarts_total',
      help: 'Times that a loop ended without being asked to and was begun again.',
      labelNames: ['loop'],
      registers,
    }),
    roleRestarts: new Counter({
      name: 'outrider_role_restarts_total',
      help: 'Times that the supervisor of this role has replaced it, by why: stall, memory, database, crash, killed, failed.',
      labelNames: ['reason'],
      registers,
    }),
    stalls: new Counter({
      name: 'outrider_stalls_total',
      help: 'Stalls of this role that it or its supervisor has seen.',
      registers,
    }),
    memoryLimit: new Gauge({
      name: 'outrider_memory_limit_bytes',
      help: 'Memory this process may use; beyond 80 % of it the process is replaced.',
      registers,
    }),
    loopErrors: new Counter({
      name: 'outrider_loop_errors_total',
      help: 'Turns of each loop that threw.',
      labelNames: ['loop'],
      registers,
    }),
  };
}
