DROP INDEX domain_slots_circuit;
