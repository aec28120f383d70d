// What Prometheus sees in eight hours, a value a minute: a calm world with the small troubles every day has, and for each alert
// what is different in a world that needs somebody. `null` takes a series away.

/** Values of each series, in the notation of promtool. */
export const calm: Readonly<Record<string, string>> = {
  'up{job="outrider-fetch",instance="a"}': '1x500',
  'process_start_time_seconds{job="outrider-fetch",instance="a"}': '1000x500',
  'process_resident_memory_bytes{job="outrider-fetch",instance="a"}': '3e8x500',
  'nodejs_eventloop_lag_p99_seconds{job="outrider-fetch",instance="a"}': '0.02x500',
  'outrider_loop_turns_total{loop="promote",job="outrider-fetch",instance="a"}': '0+120x500',
  'outrider_loop_turns_total{loop="gauges",job="outrider-schedule",instance="b"}': '0+2x500',
  'outrider_loop_errors_total{loop="heartbeat",job="outrider-fetch",instance="a"}': '0x200 1x300',
  'outrider_loop_errors_total{loop="promote",job="outrider-fetch",instance="a"}': '0x200 2x300',
  'outrider_loop_turns_total{loop="heartbeat",job="outrider-fetch",instance="a"}': '0+6x500',
  'outrider_role_restarts_total{reason="memory",job="outrider-fetch",instance="a"}': '0x200 1x300',
  'outrider_stalls_total{job="outrider-fetch",instance="a"}': '0x500',
  'outrider_memory_limit_bytes{job="outrider-fetch",instance="a"}': '1e9x500',
  outrider_expired_leases: '0x200 3 3 0x300',
  outrider_stale_settles_total: '0+0.01x500',
  'outrider_outage_suspected{job="outrider-fetch",instance="a"}': '0x200 1 1 0x300',
  'outrider_poll_lateness_seconds_bucket{le="60"}': '0+20x500',
  'outrider_poll_lateness_seconds_bucket{le="3600"}': '0+20x500',
  'outrider_poll_lateness_seconds_bucket{le="+Inf"}': '0+20x500',
  'outrider_documents_total{change="new"}': '0+3x500',
  'outrider_requests_total{outcome="response"}': '0+50x500',
  'outrider_responses_total{status="2xx"}': '0+50x500',
  'outrider_responses_total{status="429"}': '0+1x500',
  'outrider_domains{status="active"}': '95x500',
  'outrider_domains{status="blocked"}': '5x500',
  'outrider_sink_lag_seconds{sink="files"}': '20x500',
  'outrider_sink_failures_total{sink="files"}': '0x200 2x300',
  'outrider_sink_dead_letters{sink="files"}': '0x500',
  outrider_fetching_slowed: '0x200 1x10 0x290',
  'outrider_api_request_duration_seconds_count{status="2xx"}': '0+100x500',
  'outrider_api_request_duration_seconds_count{status="5xx"}': '0+1x500',
  'outrider_api_refusals_total{reason="sign_in_needed"}': '0+2x500',
  'node_filesystem_avail_bytes{instance="a",mountpoint="/",fstype="ext4"}': '5e11-1e6x500',
  'node_filesystem_size_bytes{instance="a",mountpoint="/",fstype="ext4"}': '1e12x500',
  'outrider_job_executions_total{outcome="completed"}': '0+1x500',
  'outrider_job_executions_total{outcome="failed"}': '0+0.1x500',
  'outrider_jobs{status="failed"}': '0x500',
  'outrider_jobs{status="scheduled"}': '40x500',
  outrider_job_distribution_score: '0.95x500',
  outrider_job_stale_locks_total: '0x200 1x300',
};

/** An alert that must be heard: with which labels, and what is different from a calm day. */
export type Trouble = {
  severity: 'critical' | 'warning' | 'info';
  labels?: Readonly<Record<string, string>>;
  series: Readonly<Record<string, string | null>>;
};

const fetcher = { job: 'outrider-fetch', instance: 'a' };

/** By alert. */
export const troubles: Readonly<Record<string, Trouble>> = {
  OutriderDown: {
    severity: 'critical',
    labels: fetcher,
    series: { 'up{job="outrider-fetch",instance="a"}': '0x500' },
  },
  OutriderNoFetcher: {
    severity: 'critical',
    labels: { loop: 'promote' },
    series: { 'outrider_loop_turns_total{loop="promote",job="outrider-fetch",instance="a"}': null },
  },
  OutriderNoScheduler: {
    severity: 'critical',
    labels: { loop: 'gauges' },
    series: { 'outrider_loop_turns_total{loop="gauges",job="outrider-schedule",instance="b"}': null },
  },
  OutriderRestarts: {
    severity: 'warning',
    labels: { instance: 'a' },
    series: {
      'outrider_role_restarts_total{reason="memory",job="outrider-fetch",instance="a"}': '0+0.1x500',
    },
  },
  OutriderStartedOften: {
    severity: 'warning',
    labels: fetcher,
    series: { 'process_start_time_seconds{job="outrider-fetch",instance="a"}': '1000+100x500' },
  },
  OutriderStalled: {
    severity: 'warning',
    labels: { instance: 'a' },
    series: { 'outrider_stalls_total{job="outrider-fetch",instance="a"}': '0x200 2x300' },
  },
  OutriderLoopFails: {
    severity: 'critical',
    labels: { instance: 'a', loop: 'promote' },
    series: { 'outrider_loop_errors_total{loop="promote",job="outrider-fetch",instance="a"}': '0+120x500' },
  },
  OutriderLoopStill: {
    severity: 'warning',
    labels: { ...fetcher, loop: 'renew' },
    series: { 'outrider_loop_turns_total{loop="renew",job="outrider-fetch",instance="a"}': '7x500' },
  },
  OutriderEventLoopBlocked: {
    severity: 'warning',
    labels: fetcher,
    series: { 'nodejs_eventloop_lag_p99_seconds{job="outrider-fetch",instance="a"}': '3x500' },
  },
  OutriderMemoryShort: {
    severity: 'info',
    labels: fetcher,
    series: { 'process_resident_memory_bytes{job="outrider-fetch",instance="a"}': '8e8x500' },
  },
  OutriderDatabaseAway: {
    severity: 'critical',
    labels: fetcher,
    series: { 'outrider_loop_errors_total{loop="heartbeat",job="outrider-fetch",instance="a"}': '0+2x500' },
  },
  OutriderDiskFull: {
    severity: 'critical',
    labels: { instance: 'a', mountpoint: '/', fstype: 'ext4' },
    series: { 'node_filesystem_avail_bytes{instance="a",mountpoint="/",fstype="ext4"}': '1e11-1e8x500' },
  },
  OutriderLeasesExpire: { severity: 'warning', series: { outrider_expired_leases: '4x500' } },
  OutriderSettlesRefused: { severity: 'warning', series: { outrider_stale_settles_total: '0+1x500' } },
  OutriderOutage: {
    severity: 'critical',
    labels: { instance: 'a' },
    series: { 'outrider_outage_suspected{job="outrider-fetch",instance="a"}': '1x500' },
  },
  OutriderBacklogOld: {
    severity: 'warning',
    series: { 'outrider_poll_lateness_seconds_bucket{le="60"}': '0+10x500' },
  },
  OutriderNothingNew: { severity: 'warning', series: { 'outrider_documents_total{change="new"}': '9x500' } },
  OutriderAskedToSlowDown: {
    severity: 'warning',
    series: { 'outrider_responses_total{status="429"}': '0+10x500' },
  },
  OutriderDomainsBlocked: {
    severity: 'warning',
    series: { 'outrider_domains{status="blocked"}': '50x500' },
  },
  OutriderSinkBehind: {
    severity: 'warning',
    labels: { sink: 'files' },
    series: { 'outrider_sink_lag_seconds{sink="files"}': '0+60x500' },
  },
  OutriderSinkFails: {
    severity: 'warning',
    labels: { sink: 'files' },
    series: { 'outrider_sink_failures_total{sink="files"}': '0+1x500' },
  },
  OutriderDeadLetters: {
    severity: 'warning',
    labels: { sink: 'files' },
    series: { 'outrider_sink_dead_letters{sink="files"}': '2x500' },
  },
  OutriderFetchingSlowed: { severity: 'warning', series: { outrider_fetching_slowed: '1x500' } },
  OutriderApiFails: {
    severity: 'warning',
    series: { 'outrider_api_request_duration_seconds_count{status="5xx"}': '0+20x500' },
  },
  OutriderApiRefuses: {
    severity: 'info',
    series: { 'outrider_api_refusals_total{reason="sign_in_needed"}': '0+100x500' },
  },
  OutriderJobsFail: {
    severity: 'warning',
    series: { 'outrider_job_executions_total{outcome="failed"}': '0+1x500' },
  },
  OutriderJobFailed: { severity: 'warning', series: { 'outrider_jobs{status="failed"}': '2x500' } },
  OutriderJobsUneven: { severity: 'info', series: { outrider_job_distribution_score: '0.5x500' } },
  OutriderSchedulersLost: { severity: 'warning', series: { outrider_job_stale_locks_total: '0+0.01x500' } },
};
