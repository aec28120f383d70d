-- Kept counts: how many rows of each status a source has. Whatever changes a row's status writes a delta with it.

-- Rows of one bucket that got another status; p_sources and p_from say whose they are and what they were.
CREATE FUNCTION frontier_count_moves(
  p_bucket smallint, p_now timestamptz, p_sources integer[], p_from url_status[], p_to url_status, p_dead boolean DEFAULT false)
RETURNS void LANGUAGE sql AS $$
  INSERT INTO counter_deltas (bucket, minute, source_id, dead, rows_pending, rows_fetched, rows_redirected, rows_duplicate,
                              rows_failed, rows_needs_render, rows_dead)
  SELECT p_bucket, date_trunc('minute', p_now), m.source_id, CASE WHEN p_dead THEN count(*) ELSE 0 END,
         sum((p_to = 'pending')::integer - (m.was = 'pending')::integer),
         sum((p_to = 'fetched')::integer - (m.was = 'fetched')::integer),
         sum((p_to = 'redirected')::integer - (m.was = 'redirected')::integer),
         sum((p_to = 'duplicate')::integer - (m.was = 'duplicate')::integer),
         sum((p_to = 'failed')::integer - (m.was = 'failed')::integer),
         sum((p_to = 'needs_render')::integer - (m.was = 'needs_render')::integer),
         sum((p_to = 'dead')::integer - (m.was = 'dead')::integer)
    FROM unnest(p_sources, p_from) AS m(source_id, was)
   WHERE m.was <> p_to GROUP BY m.source_id
$$;

-- Counts as they are kept: what was folded and what was not yet.
CREATE FUNCTION counts_kept()
RETURNS TABLE (source_id integer, pending bigint, fetched bigint, redirected bigint, duplicate bigint, failed bigint,
               needs_render bigint, dead bigint, channel bigint) LANGUAGE sql STABLE AS $$
  SELECT k.source_id, sum(k.rows_pending)::bigint, sum(k.rows_fetched)::bigint, sum(k.rows_redirected)::bigint,
         sum(k.rows_duplicate)::bigint, sum(k.rows_failed)::bigint, sum(k.rows_needs_render)::bigint,
         sum(k.rows_dead)::bigint, sum(k.rows_channel)::bigint
    FROM (SELECT t.source_id, t.rows_pending, t.rows_fetched, t.rows_redirected, t.rows_duplicate, t.rows_failed,
                 t.rows_needs_render, t.rows_dead, t.rows_channel FROM source_totals t
          UNION ALL
          SELECT coalesce(d.source_id, 0), d.rows_pending, d.rows_fetched, d.rows_redirected, d.rows_duplicate, d.rows_failed,
                 d.rows_needs_render, d.rows_dead, d.rows_channel FROM counter_deltas d) k
   GROUP BY k.source_id
$$;

-- Counts as the rows have them. Reads the whole frontier.
CREATE FUNCTION counts_true()
RETURNS TABLE (source_id integer, pending bigint, fetched bigint, redirected bigint, duplicate bigint, failed bigint,
               needs_render bigint, dead bigint, channel bigint) LANGUAGE sql STABLE AS $$
  SELECT coalesce(f.source_id, 0), count(*) FILTER (WHERE f.kind <> 'channel' AND f.status = 'pending'),
         count(*) FILTER (WHERE f.kind <> 'channel' AND f.status = 'fetched'),
         count(*) FILTER (WHERE f.kind <> 'channel' AND f.status = 'redirected'),
         count(*) FILTER (WHERE f.kind <> 'channel' AND f.status = 'duplicate'),
         count(*) FILTER (WHERE f.kind <> 'channel' AND f.status = 'failed'),
         count(*) FILTER (WHERE f.kind <> 'channel' AND f.status = 'needs_render'),
         count(*) FILTER (WHERE f.kind <> 'channel' AND f.status = 'dead'),
         count(*) FILTER (WHERE f.kind = 'channel')
    FROM url_frontier f WHERE f.kind <> 'probe' GROUP BY 1
$$;

-- By how much the kept counts are wrong, in one snapshot; no row: they are right.
CREATE FUNCTION counts_wrong()
RETURNS TABLE (source_id integer, pending bigint, fetched bigint, redirected bigint, duplicate bigint, failed bigint,
               needs_render bigint, dead bigint, channel bigint) LANGUAGE sql STABLE AS $$
  SELECT * FROM (
    SELECT source_id, coalesce(t.pending, 0) - coalesce(k.pending, 0) AS pending, coalesce(t.fetched, 0) - coalesce(k.fetched, 0) AS fetched,
           coalesce(t.redirected, 0) - coalesce(k.redirected, 0) AS redirected,
           coalesce(t.duplicate, 0) - coalesce(k.duplicate, 0) AS duplicate, coalesce(t.failed, 0) - coalesce(k.failed, 0) AS failed,
           coalesce(t.needs_render, 0) - coalesce(k.needs_render, 0) AS needs_render,
           coalesce(t.dead, 0) - coalesce(k.dead, 0) AS dead, coalesce(t.channel, 0) - coalesce(k.channel, 0) AS channel
      FROM counts_true() t FULL JOIN counts_kept() k USING (source_id)) w
   WHERE (w.pending, w.fetched, w.redirected, w.duplicate, w.failed, w.needs_render, w.dead, w.channel)
         IS DISTINCT FROM (0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint)
$$;

-- Puts kept counts right after an import or a load by hand. The difference becomes a delta like any other, so whoever
-- counts at the same time is not disturbed. Answers how many sources were wrong.
CREATE FUNCTION counts_mend() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  v_wrong integer;
BEGIN
  INSERT INTO counter_deltas (bucket, minute, source_id, rows_pending, rows_fetched, rows_redirected, rows_duplicate, rows_failed,
                              rows_needs_render, rows_dead, rows_channel)
  SELECT 0, date_trunc('minute', now()), nullif(w.source_id, 0), w.pending, w.fetched, w.redirected, w.duplicate, w.failed,
         w.needs_render, w.dead, w.channel FROM counts_wrong() w;
  GET DIAGNOSTICS v_wrong = ROW_COUNT;
  RETURN v_wrong;
END $$;
