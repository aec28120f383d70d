DROP TABLE domain_pins;
