DROP TABLE former_sources;
