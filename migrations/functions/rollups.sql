-- Histograms: 24 buckets whose bounds grow by a constant factor, so that sums of them are histograms again. The bounds
-- stand in src/overview/histogram.ts too, and a test compares the two.

-- The bucket of an answer's time: from 16 ms on half an octave each, the last from 33 s on.
CREATE FUNCTION latency_bucket(p_ms integer) RETURNS smallint LANGUAGE sql IMMUTABLE AS $$
  SELECT width_bucket(p_ms, '{16,23,32,45,64,91,128,181,256,362,512,724,1024,1448,2048,2896,4096,5793,8192,11585,16384,23170,32768}'::integer[])::smallint
$$;

-- The bucket of a discovery delay: from a second on an octave each, the last from 48 days on.
CREATE FUNCTION delay_bucket(p_seconds double precision) RETURNS smallint LANGUAGE sql IMMUTABLE AS $$
  SELECT width_bucket(p_seconds, '{1,2,4,8,16,32,64,128,256,512,1024,2048,4096,8192,16384,32768,65536,131072,262144,524288,1048576,2097152,4194304}'::double precision[])::smallint
$$;

-- How often each bucket was met; NULL: never.
CREATE FUNCTION histogram_of(p_buckets smallint[]) RETURNS integer[] LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN cardinality(p_buckets) > 0 THEN ARRAY(
    SELECT count(b)::integer FROM generate_series(0, 23) AS i LEFT JOIN unnest(p_buckets) AS b ON b = i GROUP BY i ORDER BY i) END
$$;

-- The sum of two histograms, of which each may be NULL.
CREATE FUNCTION histogram_add(p_one integer[], p_other integer[]) RETURNS integer[] LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN p_one IS NULL THEN p_other WHEN p_other IS NULL THEN p_one ELSE ARRAY(
    SELECT a + b FROM unnest(p_one, p_other) WITH ORDINALITY AS x(a, b, i) ORDER BY i) END
$$;
