DROP TABLE workers, discoveries, channels, sources;
