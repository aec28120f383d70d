DROP TABLE domain_rekeys;
DROP INDEX domains_with_rules;
