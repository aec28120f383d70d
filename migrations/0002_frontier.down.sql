DROP TABLE counters, counter_deltas, crawl_log, probe_results, url_sightings, channel_state, robots, domain_events,
  domains, domain_slots, url_frontier;
DROP TYPE domain_status, hold_reason, url_status, url_origin, url_kind;
