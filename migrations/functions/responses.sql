CREATE TYPE settle_response AS (
  id uuid, ago_ms double precision, status smallint, method text, url text, address text, truncated text,
  payload_digest bytea,
  etag text, last_modified text,           -- of the response
  sent_etag text, sent_last_modified text, -- of the request
  -- Request head, response head and body stand one after another in p_bytes.
  start integer, request_length integer, head_length integer, body_length integer
);

-- Gives responses to the sinks that take them. A body that a sink has of the same address already is not kept again.
CREATE FUNCTION settle_responses(
  p_bucket smallint, p_domain_key bigint, p_responses json, p_bytes bytea, p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  WITH given AS MATERIALIZED (
    SELECT r, s.name AS sink, r.id,
           -- As exact as it will be written: what refers to it must name the same moment.
           date_trunc('milliseconds', p_now - ms(r.ago_ms)) AS at,
           substring(sha256(convert_to(r.url, 'UTF8')) FOR 16) AS address_hash,
           r.status = 200 AND r.truncated IS NULL AND r.body_length > 0 AS has_payload
      FROM json_populate_recordset(NULL::settle_response, p_responses) r
      CROSS JOIN sinks s WHERE s.enabled AND s.takes = 'responses'
  ), judged AS MATERIALIZED (
    SELECT g.*, m.id AS old_id, m.at AS old_at, m.payload_digest AS old_digest, m.etag AS old_etag,
           m.last_modified AS old_modified,
           CASE WHEN (g.r).status = 304 THEN 'server-not-modified'
                WHEN g.has_payload AND m.payload_digest = (g.r).payload_digest THEN 'identical-payload-digest' END AS revisit,
           -- A 304 is about what its request named, which need not be what was stored last.
           coalesce(CASE WHEN (g.r).status <> 304 THEN g.has_payload AND m.payload_digest = (g.r).payload_digest
                         WHEN (g.r).sent_etag IS NOT NULL THEN m.etag = (g.r).sent_etag
                         ELSE m.last_modified = (g.r).sent_last_modified END, false) AS refers
      FROM given g LEFT JOIN LATERAL (
        SELECT m.* FROM response_marks m
         WHERE m.bucket = p_bucket AND m.sink = g.sink AND m.domain_key = p_domain_key AND m.address_hash = g.address_hash
         OFFSET 0) m ON true
     -- A settle that came through although its answer did not is repeated.
     WHERE m.id IS DISTINCT FROM g.id
  ), marked AS (
    INSERT INTO response_marks (bucket, sink, domain_key, address_hash, id, at, payload_digest, etag, last_modified)
    SELECT DISTINCT ON (j.sink, j.address_hash) p_bucket, j.sink, p_domain_key, j.address_hash,
           CASE WHEN j.refers THEN j.old_id ELSE j.id END,
           CASE WHEN j.refers THEN j.old_at ELSE j.at END,
           CASE WHEN j.refers THEN j.old_digest ELSE (j.r).payload_digest END,
           CASE WHEN j.has_payload THEN (j.r).etag ELSE coalesce((j.r).etag, j.old_etag) END,
           CASE WHEN j.has_payload THEN (j.r).last_modified ELSE coalesce((j.r).last_modified, j.old_modified) END
      FROM judged j
     WHERE j.has_payload OR (j.refers AND (coalesce((j.r).etag, j.old_etag) IS DISTINCT FROM j.old_etag
                                           OR coalesce((j.r).last_modified, j.old_modified) IS DISTINCT FROM j.old_modified))
     ORDER BY j.sink, j.address_hash, j.at DESC, j.id DESC
    ON CONFLICT (bucket, sink, domain_key, address_hash) DO UPDATE SET
      id = excluded.id, at = excluded.at, payload_digest = excluded.payload_digest, etag = excluded.etag,
      last_modified = excluded.last_modified
  )
  INSERT INTO outbox_responses (bucket, sink, id, domain_key, enqueued_at, at, status, bytes, method, url, address,
                                payload_digest, truncated, revisit, refers_to, refers_to_at, request_head, response_head, body)
  SELECT p_bucket, j.sink, j.id, p_domain_key, p_now, j.at, (j.r).status,
         (j.r).request_length + (j.r).head_length + CASE WHEN j.revisit IS NULL THEN (j.r).body_length ELSE 0 END,
         (j.r).method, (j.r).url, (j.r).address,
         CASE WHEN j.refers THEN j.old_digest WHEN j.revisit IS NULL THEN (j.r).payload_digest END,
         (j.r).truncated, j.revisit,
         CASE WHEN j.refers THEN j.old_id END, CASE WHEN j.refers THEN j.old_at END,
         substring(p_bytes FROM (j.r).start + 1 FOR (j.r).request_length),
         substring(p_bytes FROM (j.r).start + (j.r).request_length + 1 FOR (j.r).head_length),
         CASE WHEN j.revisit IS NULL
              THEN substring(p_bytes FROM (j.r).start + (j.r).request_length + (j.r).head_length + 1 FOR (j.r).body_length) END
    FROM judged j
  ON CONFLICT DO NOTHING;
END $$;
