SELECT frontier_set_lease_mode('single', 'migration');
DROP FUNCTION frontier_next_due, frontier_set_lease_mode, frontier_waking_buckets, frontier_due_buckets;
DROP TABLE settings;
