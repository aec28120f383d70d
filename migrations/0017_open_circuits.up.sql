-- Lists of domains whose circuit is open. Few are, and a slot that is not has no entry to be written.
CREATE INDEX domain_slots_circuit ON domain_slots (bucket, domain_key) WHERE circuit_good IS NOT NULL;
