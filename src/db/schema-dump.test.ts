import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/setup/database.ts';
import { dumpSchema } from './index.ts';

const schema = `
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE TYPE mood AS ENUM ('good', 'it''s bad');
CREATE TYPE pair AS (a int, b text);
CREATE DOMAIN percent AS int CONSTRAINT percent_range CHECK (VALUE BETWEEN 0 AND 100);
CREATE SEQUENCE ticket START 5 INCREMENT 5;
CREATE FUNCTION twice(n int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT n * 2';
CREATE TABLE "Domain" (
  bucket smallint NOT NULL, id bigint GENERATED ALWAYS AS IDENTITY, name text COLLATE "C" NOT NULL,
  mood mood NOT NULL DEFAULT 'good', share percent, state text NOT NULL CONSTRAINT known_state CHECK (state IN ('a', 'b')),
  double int GENERATED ALWAYS AS (twice(bucket)) STORED, body text, tags text[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (bucket, id), UNIQUE (bucket, name)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
ALTER TABLE "Domain" ALTER COLUMN body SET STORAGE EXTERNAL, ALTER COLUMN name SET STATISTICS 500;
CREATE INDEX domain_ready ON "Domain" (bucket, name DESC) INCLUDE (state) WHERE state = 'a';
CREATE INDEX domain_search ON "Domain" USING gin (to_tsvector('simple', body));
CREATE INDEX domain_trigram ON "Domain" USING gin (name gin_trgm_ops);
CREATE TABLE child (bucket smallint, domain_id bigint, serial serial, CONSTRAINT child_domain
  FOREIGN KEY (bucket, domain_id) REFERENCES "Domain" ON DELETE CASCADE);
CREATE TABLE log (at timestamptz NOT NULL, bucket smallint NOT NULL, line text, PRIMARY KEY (bucket, at)) PARTITION BY RANGE (at);
CREATE TABLE log_2026_01 PARTITION OF log FOR VALUES FROM ('2026-01-01 00:00+00') TO ('2026-02-01 00:00+00');
CREATE TABLE log_rest PARTITION OF log DEFAULT PARTITION BY HASH (bucket);
CREATE TABLE log_rest_0 PARTITION OF log_rest FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE INDEX log_line ON log (bucket, line);
CREATE UNLOGGED TABLE cache (key text PRIMARY KEY);
CREATE VIEW ready AS SELECT name, twice(bucket) AS n FROM "Domain" WHERE state = 'a';
CREATE FUNCTION names(d "Domain") RETURNS text LANGUAGE sql STABLE AS 'SELECT d.name';
CREATE STATISTICS domain_stats (dependencies) ON bucket, state FROM "Domain";
COMMENT ON TABLE "Domain" IS 'crawl entity';
COMMENT ON COLUMN "Domain".name IS 'it''s the name';
`;

let source: TestDatabase;
let copy: TestDatabase;

beforeAll(async () => {
  source = await createTestDatabase({ empty: true });
  copy = await createTestDatabase({ empty: true });
  await source.pool.query(schema);
});
afterAll(async () => {
  await source.drop();
  await copy.drop();
});

test('the dump can be loaded and gives the same dump', async () => {
  const dump = await dumpSchema(source.pool);
  await copy.pool.query(dump);
  expect(await dumpSchema(copy.pool)).toBe(dump);
});

test('the dump names every object', async () => {
  const dump = await dumpSchema(source.pool);
  for (const part of [
    'CREATE EXTENSION IF NOT EXISTS pg_trgm;',
    `CREATE TYPE mood AS ENUM ('good', 'it''s bad');`,
    'CONSTRAINT percent_range CHECK',
    'INCREMENT 5',
    'CREATE OR REPLACE FUNCTION public.twice',
    'id bigint GENERATED ALWAYS AS IDENTITY NOT NULL',
    'name text COLLATE "C" NOT NULL',
    'GENERATED ALWAYS AS (twice((bucket)::integer)) STORED',
    'WITH (fillfactor=70, autovacuum_vacuum_scale_factor=0.01)',
    'ALTER COLUMN body SET STORAGE EXTERNAL',
    'ALTER COLUMN name SET STATISTICS 500',
    'ADD CONSTRAINT known_state CHECK',
    `WHERE (state = 'a'::text)`,
    'ON DELETE CASCADE',
    'PARTITION BY RANGE (at)',
    `PARTITION OF log FOR VALUES FROM ('2026-01-01 00:00:00+00')`,
    'CREATE TABLE log_rest PARTITION OF log DEFAULT PARTITION BY HASH (bucket)',
    'CREATE UNLOGGED TABLE cache',
    'CREATE VIEW ready AS',
    'public.names(d "Domain")',
    'CREATE STATISTICS',
    `COMMENT ON COLUMN "Domain".name IS 'it''s the name';`,
  ])
    expect(dump).toContain(part);
});

test.each([
  ['a column', 'ALTER TABLE child ADD COLUMN extra int', 'ALTER TABLE child DROP COLUMN extra'],
  [
    'a default',
    'ALTER TABLE child ALTER bucket SET DEFAULT 1',
    'ALTER TABLE child ALTER bucket DROP DEFAULT',
  ],
  ['an index', 'CREATE INDEX extra ON child (serial)', 'DROP INDEX extra'],
  [
    'a check',
    'ALTER TABLE child ADD CONSTRAINT extra CHECK (bucket > 0)',
    'ALTER TABLE child DROP CONSTRAINT extra',
  ],
  ['a storage option', 'ALTER TABLE child SET (fillfactor = 50)', 'ALTER TABLE child RESET (fillfactor)'],
  [
    'nullability',
    'ALTER TABLE child ALTER bucket SET NOT NULL',
    'ALTER TABLE child ALTER bucket DROP NOT NULL',
  ],
])('%s changes the dump, and taking it away changes it back', async (_what, change, undo) => {
  const before = await dumpSchema(source.pool);
  await source.pool.query(change);
  expect(await dumpSchema(source.pool)).not.toBe(before);
  await source.pool.query(undo);
  expect(await dumpSchema(source.pool)).toBe(before);
});
