DROP TABLE site_refusals;
DROP TABLE pagination_rules;
DROP TABLE site_prefixes;
DROP TABLE site_shapes;
