CREATE TYPE settle_item AS (
  url_hash bytea, status url_status,
  due_in_ms double precision, -- NULL: never again by itself
  tries smallint, http_status smallint, error_code text, error_text text,
  etag text, last_modified text, content_hash bytea, redirected_to text, url text, refresh_seconds integer,
  validation_status text, rejection_reason text,
  fetched boolean,            -- a request was answered: moves last_fetched_at and fetch_count
  unchanged boolean,          -- 304 or the same text: validators, hash and document stay
  target boolean,             -- end of a redirect inside the domain: its row is made or settled from this response
  kind url_kind, origin url_origin, source_id integer, priority smallint, level smallint, depth smallint, hops smallint,
  parent_url text,
  items_seen integer, items_duplicate integer, items_rejected integer,
  channel_id integer, channel_error text, channel_new integer, channel_format text, channel_hub text,
  channel_sleep text,         -- why it sleeps from now on
  channel_redirect text,      -- where permanent redirects led
  channel_rhythm jsonb, channel_weight real, channel_floor integer,
  channel_delays integer, channel_delay_s double precision, channel_late_s double precision,
  channel_topic text,         -- what the hub calls the feed
  last_item_at timestamptz, result jsonb, execution_id bigint,
  becomes url_kind            -- what the spider took for the other kind of page
);

CREATE TYPE settle_document AS (
  url_hash bytea, url text, source_id integer, word_count integer, confidence real, published_at timestamptz,
  modified_at timestamptz, content_hash bytea, page_type text, language text, canonical_url text, title text,
  section text, description text, lead_image text, authors text[], keywords text[], meta jsonb,
  -- Where its text (UTF-8) and its bytes stand in p_bytes: one value travels as it is, an array as hex, and JSON is read
  -- character by character, twice.
  text_start integer, text_length integer, raw_start integer, raw_length integer, raw_encoding text, raw_type text,
  hold boolean                -- sinks wait until it is known whether it is a copy
);

CREATE TYPE settle_request AS (
  ago_ms double precision, status smallint, kind text, outcome text, url_hash bytea, url text, source_id integer,
  execution_id bigint, wait_ms integer, headers_ms integer, total_ms integer, bytes bigint
);

-- What a lease taught about its domain. A field that is missing leaves the slot as it is.
CREATE TYPE settle_domain AS (
  hold_ms double precision, hold_reason hold_reason, penalty_ms integer, good_run smallint, robots_delay_ms integer,
  source_delay_ms integer,
  ladder jsonb,               -- as slot_ladder gave it, with what has happened since
  trial_passed boolean,       -- the domain answered although it rests
  move_to domain_status, move_reason text,
  rest_ms double precision[]  -- how long it rests the first time, the second, …; the last for all further times
);

-- What storing documents came to.
CREATE TYPE settle_stored AS (
  made bytea[], changed integer, same bytea[], images integer,
  twins bytea[], twin_of bytea[], -- whose text the domain has under another address, and that address
  sources integer[]               -- of those that were made
);

-- Stores documents of a domain whose slot is locked; of two with one text the first keeps it. All in one statement: one
-- by one each paid for the start of five statements. p_held: the URLs this settle may end.
CREATE FUNCTION settle_documents(
  p_bucket smallint, p_domain_key bigint, p_documents json, p_bytes bytea, p_held bytea[], p_now timestamptz)
RETURNS settle_stored LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_stored settle_stored := ('{}', 0, '{}', 0, '{}', '{}', '{}');
  v_tangled boolean;
  v_one json;
  v_next settle_stored;
  v_stubs bytea[];
BEGIN
  -- A document stays one value until it is written: as columns, each node of the plan would make room for all of them.
  WITH given AS MATERIALIZED (
    SELECT d, d.url_hash, o.version AS old_version, coalesce(o.content_hash = d.content_hash, false) AS same,
           t.url_hash AS twin_of
      FROM json_populate_recordset(NULL::settle_document, p_documents) d
      -- Document by document through the keys: left to itself the planner reads the whole domain.
      LEFT JOIN LATERAL (
        SELECT o.version, o.content_hash FROM documents o
         WHERE o.bucket = p_bucket AND o.domain_key = p_domain_key AND o.url_hash = d.url_hash OFFSET 0) o ON true
      LEFT JOIN LATERAL (
        SELECT t.url_hash FROM documents t
         WHERE t.bucket = p_bucket AND t.domain_key = p_domain_key AND t.content_hash = d.content_hash
           AND t.page_type <> 'stub' AND d.page_type <> 'stub' AND t.url_hash <> d.url_hash OFFSET 0) t ON true
     WHERE d.url_hash = ANY (p_held)
  ), tangle AS MATERIALIZED (
    SELECT count(*) > count(DISTINCT g.url_hash)
           OR count(*) FILTER (WHERE (g.d).page_type <> 'stub')
              > count(DISTINCT (g.d).content_hash) FILTER (WHERE (g.d).page_type <> 'stub')
           OR EXISTS (SELECT FROM given t WHERE t.url_hash IN (SELECT g.twin_of FROM given g)) AS tangled
      FROM given g
  ), stored AS NOT MATERIALIZED (
    SELECT g.d, g.url_hash, g.old_version, coalesce(g.old_version, 0) + 1 AS version FROM given g
     WHERE g.twin_of IS NULL AND NOT g.same AND NOT (SELECT x.tangled FROM tangle x)
  ), kept AS (
    INSERT INTO document_versions (bucket, domain_key, url_hash, version, crawled_at, content_hash, title, text)
    SELECT o.* FROM stored g CROSS JOIN LATERAL (
        SELECT o.bucket, o.domain_key, o.url_hash, o.version, o.crawled_at, o.content_hash, o.title, o.text FROM documents o
         WHERE o.bucket = p_bucket AND o.domain_key = p_domain_key AND o.url_hash = g.url_hash OFFSET 0) o
     WHERE g.old_version IS NOT NULL
  ), written AS (
    INSERT INTO documents (bucket, domain_key, url_hash, source_id, version, word_count, confidence, first_seen_at,
        last_seen_at, crawled_at, published_at, modified_at, content_hash, page_type, language, url, canonical_url, title,
        section, description, lead_image, authors, keywords, meta, text)
    SELECT p_bucket, p_domain_key, g.url_hash, (g.d).source_id, g.version, (g.d).word_count, (g.d).confidence, p_now, p_now,
        p_now, (g.d).published_at, (g.d).modified_at, (g.d).content_hash, (g.d).page_type, (g.d).language, (g.d).url,
        (g.d).canonical_url, (g.d).title, (g.d).section, (g.d).description, (g.d).lead_image, coalesce((g.d).authors, '{}'),
        coalesce((g.d).keywords, '{}'), coalesce((g.d).meta, '{}'),
        convert_from(substring(p_bytes FROM (g.d).text_start + 1 FOR (g.d).text_length), 'UTF8')
      FROM stored g
    ON CONFLICT (bucket, domain_key, url_hash) DO UPDATE SET
        version = excluded.version, word_count = excluded.word_count, confidence = excluded.confidence,
        last_seen_at = p_now, crawled_at = p_now, published_at = coalesce(excluded.published_at, documents.published_at),
        modified_at = excluded.modified_at, content_hash = excluded.content_hash, page_type = excluded.page_type,
        language = excluded.language, url = excluded.url, canonical_url = excluded.canonical_url, title = excluded.title,
        section = excluded.section, description = excluded.description, lead_image = excluded.lead_image,
        authors = excluded.authors, keywords = excluded.keywords, meta = excluded.meta, text = excluded.text,
        -- The verdict was about the old text.
        classification_status = 'pending', classified_at = NULL, labels = '{}'
  ), raw AS (
    INSERT INTO raw_pages (bucket, domain_key, url_hash, fetched_at, encoding, content_type, body)
    SELECT p_bucket, p_domain_key, g.url_hash, p_now, (g.d).raw_encoding, (g.d).raw_type,
           substring(p_bytes FROM (g.d).raw_start + 1 FOR (g.d).raw_length)
      FROM stored g WHERE (g.d).raw_start IS NOT NULL
    ON CONFLICT DO NOTHING
  ), outgoing AS (
    INSERT INTO outbox (bucket, sink, domain_key, url_hash, version, enqueued_at, held)
    SELECT p_bucket, s.name, p_domain_key, g.url_hash, g.version, p_now,
           -- Only the index can let it go.
           coalesce((g.d).hold, false) AND s.name <> 'index' AND EXISTS (SELECT FROM sinks i WHERE i.name = 'index' AND i.enabled)
      FROM stored g CROSS JOIN sinks s WHERE (g.d).page_type <> 'stub' AND s.enabled AND s.takes = 'documents'
  )
  SELECT (SELECT x.tangled FROM tangle x),
         coalesce(array_agg(g.url_hash) FILTER (WHERE g.twin_of IS NULL AND g.old_version IS NULL), '{}'),
         count(*) FILTER (WHERE g.twin_of IS NULL AND g.old_version IS NOT NULL AND NOT g.same),
         coalesce(array_agg(g.url_hash) FILTER (WHERE g.twin_of IS NULL AND g.same), '{}'),
         coalesce(sum(CASE WHEN jsonb_typeof((g.d).meta -> 'images') = 'array' THEN jsonb_array_length((g.d).meta -> 'images') END)
           FILTER (WHERE g.twin_of IS NULL AND g.old_version IS NULL), 0),
         coalesce(array_agg(g.url_hash) FILTER (WHERE g.twin_of IS NOT NULL), '{}'),
         coalesce(array_agg(g.twin_of) FILTER (WHERE g.twin_of IS NOT NULL), '{}'),
         coalesce(array_agg((g.d).source_id) FILTER (WHERE g.twin_of IS NULL AND g.old_version IS NULL), '{}'),
         array_agg(g.url_hash) FILTER (WHERE g.twin_of IS NULL AND g.old_version IS NOT NULL AND NOT g.same AND (g.d).page_type = 'stub')
    INTO v_tangled, v_stored.made, v_stored.changed, v_stored.same, v_stored.images, v_stored.twins, v_stored.twin_of,
         v_stored.sources, v_stubs
    FROM given g;
  IF v_tangled THEN
    -- Nothing was stored: what a document is depends on those before it, so they come one by one.
    v_stored := ('{}', 0, '{}', 0, '{}', '{}', '{}');
    FOR v_one IN SELECT json_build_array(d) FROM json_array_elements(p_documents) d LOOP
      v_next := settle_documents(p_bucket, p_domain_key, v_one, p_bytes, p_held, p_now);
      v_stored := (v_stored.made || v_next.made, v_stored.changed + v_next.changed, v_stored.same || v_next.same,
                   v_stored.images + v_next.images, v_stored.twins || v_next.twins, v_stored.twin_of || v_next.twin_of,
                   v_stored.sources || v_next.sources);
    END LOOP;
  ELSIF v_stubs IS NOT NULL THEN
    -- An article that is a stub by now goes nowhere, not even for a version that waits; the index forgets it.
    DELETE FROM outbox o USING sinks s
     WHERE o.bucket = p_bucket AND o.sink = s.name AND s.name <> 'index' AND o.domain_key = p_domain_key
       AND o.url_hash = ANY (v_stubs);
    INSERT INTO outbox (bucket, sink, domain_key, url_hash, version, enqueued_at)
    SELECT p_bucket, s.name, p_domain_key, d.url_hash, d.version, p_now
      FROM documents d CROSS JOIN sinks s
     WHERE d.bucket = p_bucket AND d.domain_key = p_domain_key AND d.url_hash = ANY (v_stubs)
       AND s.name = 'index' AND s.enabled;
  END IF;
  RETURN v_stored;
END $$;

-- How a request counts for its domain. robots.txt may well be missing, and a redirect is neither.
CREATE FUNCTION log_is_page(p_kind text, p_outcome text, p_status smallint) RETURNS boolean LANGUAGE sql IMMUTABLE AS
$$ SELECT p_kind IN ('article', 'listing') AND p_outcome IN ('response', 'not_modified', 'needs_javascript') AND p_status < 400 $$;
CREATE FUNCTION log_is_error(p_kind text, p_outcome text, p_status smallint) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT p_kind <> 'robots' AND (coalesce(p_status, 999) >= 400
      -- An image that is not worth storing is no fault of its host.
      OR p_kind <> 'image' AND p_outcome NOT IN ('response', 'not_modified', 'redirect', 'unsupported_type', 'needs_javascript'))
     AND p_outcome <> 'outage'
$$;

-- Whether a settle that is repeated because its answer was lost had been carried out: then all of its requests are in the
-- log, since all of it is one transaction. By crawl_log_domain, a few minutes of one domain. Clocks and the way to the
-- server move a request's time by less than the minute either side.
CREATE FUNCTION settle_was_done(
  p_slot domain_slots, p_owner text, p_epoch bigint, p_requests json, p_now timestamptz)
RETURNS boolean LANGUAGE sql STABLE AS $$
  -- Without requests: whoever else ends a lease raises the epoch or leaves its owner.
  SELECT CASE WHEN p_requests IS NULL THEN p_slot.lease_owner IS NULL AND p_slot.lease_epoch = p_epoch
  ELSE NOT EXISTS (
    SELECT FROM json_populate_recordset(NULL::settle_request, p_requests) r
     WHERE NOT EXISTS (
       SELECT FROM crawl_log l
        WHERE l.bucket = p_slot.bucket AND l.domain_key = p_slot.domain_key
          AND l.at BETWEEN p_now - ms(r.ago_ms) - interval '1 minute' AND p_now - ms(r.ago_ms) + interval '1 minute'
          AND l.epoch = p_epoch AND l.worker = p_owner AND l.url = r.url AND l.kind = r.kind AND l.outcome = r.outcome
          AND (l.status, l.wait_ms, l.headers_ms, l.total_ms, l.bytes)
              IS NOT DISTINCT FROM (r.status, r.wait_ms, r.headers_ms, r.total_ms, r.bytes)))
  END
$$;

-- Ends URLs, and with p_final the lease. Fenced by owner and epoch: a late worker changes nothing, but what it
-- requested is still logged.
CREATE FUNCTION frontier_settle(
  p_bucket smallint, p_domain_key bigint, p_owner text, p_epoch bigint, p_final boolean,
  p_items json, p_documents json, p_bytes bytea, p_requests json, p_domain json,
  p_idle_ms double precision,  -- since the last response's headers, or its failure
  p_default_delay_ms integer, p_budget integer DEFAULT NULL, p_skew interval DEFAULT '0',
  p_responses json DEFAULT NULL, -- what came, while a sink takes that
  p_repeated boolean DEFAULT false) -- the same was sent before, and nobody knows what became of it
RETURNS TABLE (outcome text, settled integer, documents integer, versions integer, duplicates integer)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_now timestamptz := now() + p_skew;
  v_slot domain_slots;
  v_stale boolean;
  v_requests integer := 0;
  v_sources integer[];        -- of the requests, with their sizes and what they were
  v_sizes bigint[];
  v_are_pages boolean[];
  v_are_errors boolean[];
  v_pages integer := 0;
  v_errors integer := 0;
  v_errors_since integer;
  v_latencies smallint[];
  v_delays smallint[];
  v_good_at timestamptz;
  v_learnt settle_domain;
  v_stored settle_stored := ('{}', 0, '{}', 0, '{}', '{}', '{}');
  v_reports boolean;
  v_targets bytea[] := '{}';
  v_unchanged bytea[];
  v_polled boolean;
  v_probed boolean;
  v_hashes bytea[] := '{}';
  v_paid bytea[] := '{}';
  v_depth smallint;
  v_images_stored integer := 0;
  v_entry text;
  v_delay integer;
  v_exhausted boolean := false;
  v_awaits boolean;
  v_domain domains;
  v_score real;
BEGIN
  SELECT * INTO v_slot FROM domain_slots s WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key FOR UPDATE;
  v_stale := v_slot.lease_owner IS DISTINCT FROM p_owner OR v_slot.lease_epoch IS DISTINCT FROM p_epoch;
  IF p_repeated AND settle_was_done(v_slot, p_owner, p_epoch, p_requests, v_now) THEN
    RETURN QUERY SELECT 'settled', 0, 0, 0, 0;
    RETURN;
  END IF;

  IF p_requests IS NOT NULL THEN
    -- The domain counts what the log has: both are written here, so a crash cannot part them.
    WITH logged AS (
      INSERT INTO crawl_log (at, bucket, domain_key, epoch, status, kind, outcome, url_hash, url, source_id, execution_id,
                             wait_ms, headers_ms, total_ms, bytes, worker, stale)
      SELECT v_now - ms(r.ago_ms), p_bucket, p_domain_key, p_epoch, r.status, r.kind, r.outcome, r.url_hash, r.url,
             r.source_id, r.execution_id, r.wait_ms, r.headers_ms, r.total_ms, r.bytes, p_owner, v_stale
        FROM json_populate_recordset(NULL::settle_request, p_requests) r
      RETURNING at, source_id, bytes, CASE WHEN status IS NOT NULL THEN latency_bucket(total_ms) END AS latency,
                log_is_page(kind, outcome, status) AS page, log_is_error(kind, outcome, status) AS error,
                kind <> 'robots' AND outcome NOT IN ('redirect', 'outage') AS telling
    ), dated AS (
      SELECT l.*, max(l.at) FILTER (WHERE l.telling AND NOT l.error) OVER () AS good_at FROM logged l)
    SELECT count(*), array_agg(d.source_id), array_agg(d.bytes), array_agg(d.page), array_agg(d.error),
           count(*) FILTER (WHERE d.page), count(*) FILTER (WHERE d.error), max(d.good_at),
           count(*) FILTER (WHERE d.error AND d.at > d.good_at), array_agg(d.latency) FILTER (WHERE d.latency IS NOT NULL)
      INTO v_requests, v_sources, v_sizes, v_are_pages, v_are_errors, v_pages, v_errors, v_good_at, v_errors_since, v_latencies
      FROM dated d;
  END IF;
  -- The text is searched first: rows of no execution pay for nothing else.
  v_reports := strpos(p_requests::text, '"execution_id"') > 0;
  IF p_responses IS NOT NULL THEN
    PERFORM settle_responses(p_bucket, p_domain_key, p_responses, p_bytes, v_now);
  END IF;
  IF v_stale THEN
    IF v_reports THEN
      PERFORM settle_reports(p_bucket, p_requests, NULL, NULL, v_hashes, v_stored, v_now);
    END IF;
    RETURN QUERY SELECT 'stale', 0, 0, 0, 0;
    RETURN;
  END IF;
  IF p_domain IS NOT NULL THEN
    v_learnt := json_populate_record(NULL::settle_domain, p_domain);
  END IF;

  -- The items are parsed where they are used, and that is once unless there is something rare among them. Kept as an
  -- array of rows they were copied and taken apart again by each of seven statements: a third of the call.
  IF p_items IS NOT NULL THEN
    -- Redirect targets inside the domain: made here if unknown, so that the main statement settles both alike. The
    -- text is searched first because parsing it for nothing would cost as much as settling.
    IF strpos(p_items::text, '"target"') > 0 THEN
      WITH target AS (SELECT i.* FROM json_populate_recordset(NULL::settle_item, p_items) i WHERE i.target),
      made AS (
        INSERT INTO url_frontier (bucket, domain_key, url_hash, url, kind, origin, source_id, priority, level, depth, hops,
                                  parent_url, execution_id, due_at, ready, discovered_at)
        SELECT p_bucket, p_domain_key, i.url_hash, i.url, i.kind, 'redirect', i.source_id, i.priority, i.level, i.depth,
               i.hops, i.parent_url, i.execution_id, NULL, false, v_now
          FROM target i
        ON CONFLICT DO NOTHING
        RETURNING source_id, kind),
      known AS (
        UPDATE domains d SET pages_known = d.pages_known + x.pages
          FROM (SELECT count(*) AS pages FROM made WHERE kind IN ('article', 'listing')) x
         WHERE d.bucket = p_bucket AND d.domain_key = p_domain_key AND x.pages > 0),
      counted AS (
        INSERT INTO counter_deltas (bucket, minute, source_id, inserted, rows_pending, rows_channel)
        SELECT p_bucket, date_trunc('minute', v_now), source_id, count(*), count(*) FILTER (WHERE kind <> 'channel'),
               count(*) FILTER (WHERE kind = 'channel') FROM made GROUP BY source_id)
      -- What an operator removed stays removed, whoever leads there.
      SELECT coalesce(array_agg(i.url_hash) FILTER (WHERE NOT EXISTS (
               SELECT FROM url_frontier f WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key
                  AND f.url_hash = i.url_hash AND f.error_code = 'removed')), '{}')
        INTO v_targets FROM target i;
      -- A target that waited for its turn has had it.
      SELECT v_slot.queued - count(*), v_slot.budgeted - count(*) FILTER (WHERE f.budgeted)
        INTO v_slot.queued, v_slot.budgeted
        FROM url_frontier f
       WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key AND f.url_hash = ANY (v_targets) AND f.ready
         AND f.url_hash <> ALL (v_slot.in_flight);
    END IF;

    IF p_documents IS NOT NULL THEN
      v_stored := settle_documents(p_bucket, p_domain_key, p_documents, p_bytes, v_slot.in_flight || v_targets, v_now);
    END IF;

    WITH settled AS (
      UPDATE url_frontier f SET
        status = CASE WHEN i.twin_of IS NOT NULL THEN 'duplicate' ELSE i.status END,
        duplicate_of = coalesce(i.twin_of, CASE WHEN i.status = 'duplicate' THEN f.duplicate_of END),
        kind = coalesce(i.becomes, f.kind),
        ready = false,
        -- A refresh stood lower; a page that is done is itself again.
        level = CASE WHEN i.status IN ('pending', 'failed') OR f.level > 10 THEN f.level ELSE f.priority END,
        -- Another address has the text. A site that shows one notice everywhere for an hour says so of all its articles:
        -- whoever shows another's text is looked at once more, and only then for the last time, unless the other address
        -- leads elsewhere or is gone: an article that has moved must not be lost sight of.
        due_at = CASE WHEN i.twin_of IS NULL OR f.duplicate_of IS NULL OR EXISTS (
                        SELECT FROM url_frontier o
                         WHERE o.bucket = p_bucket AND o.domain_key = p_domain_key AND o.url_hash = i.twin_of
                           AND o.status IN ('redirected', 'dead'))
                 THEN v_now + ms(i.due_in_ms) END,
        tries = coalesce(i.tries, f.tries),
        crashes = 0,
        http_status = i.http_status,
        error_code = i.error_code,
        error_text = i.error_text,
        -- What came for another's text says nothing of its own: it must not pass for unchanged.
        etag = CASE WHEN i.twin_of IS NOT NULL THEN NULL WHEN i.unchanged THEN coalesce(i.etag, f.etag)
               WHEN i.fetched THEN i.etag ELSE f.etag END,
        last_modified = CASE WHEN i.twin_of IS NOT NULL THEN NULL
                        WHEN i.unchanged THEN coalesce(i.last_modified, f.last_modified)
                        WHEN i.fetched THEN i.last_modified ELSE f.last_modified END,
        content_hash = CASE WHEN i.twin_of IS NULL THEN coalesce(i.content_hash, f.content_hash) ELSE f.content_hash END,
        redirected_to = i.redirected_to,
        url = coalesce(i.url, f.url),
        refresh_seconds = coalesce(i.refresh_seconds, f.refresh_seconds),
        validation_status = coalesce(i.validation_status, f.validation_status),
        rejection_reason = CASE WHEN i.validation_status IS NULL THEN f.rejection_reason ELSE i.rejection_reason END,
        last_fetched_at = CASE WHEN i.fetched THEN v_now ELSE f.last_fetched_at END,
        fetch_count = f.fetch_count + CASE WHEN i.fetched THEN 1 ELSE 0 END
      -- Item by item through the key. Left to itself the planner believes that a domain has one row and reads the whole
      -- domain, or joins every item with every row.
      FROM (SELECT i.*, v_stored.twin_of[array_position(v_stored.twins, i.url_hash)] AS twin_of, k.row_at, k.was
              FROM json_populate_recordset(NULL::settle_item, p_items) i
             CROSS JOIN LATERAL (
               SELECT k.ctid AS row_at, k.status AS was FROM url_frontier k
                WHERE k.bucket = p_bucket AND k.domain_key = p_domain_key AND k.url_hash = i.url_hash OFFSET 0) k
             WHERE i.url_hash = ANY (v_slot.in_flight) OR i.target AND i.url_hash = ANY (v_targets) OFFSET 0) i
      WHERE f.ctid = i.row_at
      RETURNING f.url_hash, f.url, f.depth, f.budgeted, f.url_hash = ANY (v_slot.in_flight) AND i.was <> 'needs_render' AS held, f.status, f.kind,
                f.source_id, f.error_code, i.was, i.fetched, i.unchanged, i.items_seen, i.items_duplicate, i.items_rejected, i.channel_id, i.result IS NOT NULL AS probed
    ), delta AS (
      INSERT INTO counter_deltas (bucket, minute, source_id, items_seen, items_duplicate, items_rejected, fetched,
                                  unchanged, redirected, duplicate, failed, needs_render, dead, robots_blocked, polled,
                                  rows_pending, rows_fetched, rows_redirected, rows_duplicate, rows_failed,
                                  rows_needs_render, rows_dead)
      SELECT p_bucket, date_trunc('minute', v_now), source_id,
             coalesce(sum(items_seen), 0), coalesce(sum(items_duplicate), 0), coalesce(sum(items_rejected), 0),
             count(*) FILTER (WHERE kind <> 'channel' AND status = 'fetched'), count(*) FILTER (WHERE unchanged),
             count(*) FILTER (WHERE status = 'redirected'), count(*) FILTER (WHERE status = 'duplicate'),
             count(*) FILTER (WHERE status = 'failed'), count(*) FILTER (WHERE status = 'needs_render'),
             count(*) FILTER (WHERE status = 'dead'), count(*) FILTER (WHERE error_code = 'robots_blocked'),
             count(*) FILTER (WHERE kind = 'channel' AND fetched),
             coalesce(sum((status = 'pending')::integer - (was = 'pending')::integer) FILTER (WHERE kind <> 'channel'), 0),
             coalesce(sum((status = 'fetched')::integer - (was = 'fetched')::integer) FILTER (WHERE kind <> 'channel'), 0),
             coalesce(sum((status = 'redirected')::integer - (was = 'redirected')::integer) FILTER (WHERE kind <> 'channel'), 0),
             coalesce(sum((status = 'duplicate')::integer - (was = 'duplicate')::integer) FILTER (WHERE kind <> 'channel'), 0),
             coalesce(sum((status = 'failed')::integer - (was = 'failed')::integer) FILTER (WHERE kind <> 'channel'), 0),
             coalesce(sum((status = 'needs_render')::integer - (was = 'needs_render')::integer) FILTER (WHERE kind <> 'channel'), 0),
             coalesce(sum((status = 'dead')::integer - (was = 'dead')::integer) FILTER (WHERE kind <> 'channel'), 0)
        FROM settled WHERE kind <> 'probe' GROUP BY source_id
    )
    SELECT coalesce(array_agg(url_hash), '{}'), 
           -- What is handed on to a browser pays here, and not again when it is rendered.
           coalesce(array_agg(url_hash) FILTER (WHERE budgeted AND (fetched OR status = 'needs_render') AND held), '{}'),
           array_agg(url_hash) FILTER (WHERE unchanged AND kind = 'article'), bool_or(channel_id IS NOT NULL), bool_or(probed),
           max(depth) FILTER (WHERE fetched), count(*) FILTER (WHERE kind = 'image' AND status = 'fetched'),
           min(substring(url from '^https?://[^/]+/')) FILTER (WHERE status = 'fetched' AND kind IN ('article', 'listing')),
           v_slot.queued - count(*) FILTER (WHERE held), v_slot.budgeted - count(*) FILTER (WHERE budgeted AND held),
           -- Only pages that were answered use the budget up.
           v_slot.budget_left + count(*) FILTER (WHERE budgeted AND held AND NOT fetched AND status <> 'needs_render'),
           bool_or(status = 'needs_render')
      INTO v_hashes, v_paid, v_unchanged, v_polled, v_probed, v_depth, v_images_stored, v_entry, v_slot.queued, v_slot.budgeted,
           v_slot.budget_left, v_awaits
      FROM settled;
    v_slot.awaits_render := v_slot.awaits_render OR coalesce(v_awaits, false);

    IF v_unchanged IS NOT NULL OR v_stored.same <> '{}' THEN
      UPDATE documents d SET last_seen_at = v_now
       WHERE d.bucket = p_bucket AND d.domain_key = p_domain_key AND d.url_hash = ANY (v_stored.same || v_unchanged);
    END IF;

    IF v_images_stored > 0 THEN
      PERFORM settle_images(p_bucket, p_domain_key, p_items, v_hashes, v_now);
    END IF;

    IF v_polled THEN
      INSERT INTO channel_state AS c (bucket, channel_id, polls, not_modified, items_seen, items_new, errors_in_row,
                                      error_kind, failing_since, last_success_at, last_item_at, format, hub, slept_at,
                                      sleep_reason, redirect_to, redirects, rhythm, weight, floor_seconds, delays,
                                      delay_seconds, late_seconds, topic)
      SELECT p_bucket, i.channel_id, 1, CASE WHEN i.unchanged THEN 1 ELSE 0 END, coalesce(i.items_seen, 0),
             coalesce(i.channel_new, 0), CASE WHEN i.channel_error IS NULL THEN 0 ELSE 1 END, i.channel_error,
             CASE WHEN i.channel_error IS NULL THEN NULL ELSE v_now END,
             CASE WHEN i.channel_error IS NULL THEN v_now END, i.last_item_at, i.channel_format, i.channel_hub,
             CASE WHEN i.channel_sleep IS NOT NULL THEN v_now END, i.channel_sleep, i.channel_redirect,
             CASE WHEN i.channel_redirect IS NULL THEN 0 ELSE 1 END, i.channel_rhythm, i.channel_weight, i.channel_floor,
             coalesce(i.channel_delays, 0), coalesce(i.channel_delay_s, 0), coalesce(i.channel_late_s, 0),
             i.channel_topic
        FROM json_populate_recordset(NULL::settle_item, p_items) i
       WHERE i.channel_id IS NOT NULL AND i.url_hash = ANY (v_hashes)
      ON CONFLICT (bucket, channel_id) DO UPDATE SET
        polls = c.polls + 1, not_modified = c.not_modified + excluded.not_modified,
        items_seen = c.items_seen + excluded.items_seen, items_new = c.items_new + excluded.items_new,
        errors_in_row = CASE WHEN excluded.error_kind IS NULL THEN 0
                        WHEN excluded.error_kind = c.error_kind THEN c.errors_in_row + 1 ELSE 1 END,
        error_kind = excluded.error_kind,
        failing_since = CASE WHEN excluded.error_kind IS NULL THEN NULL ELSE coalesce(c.failing_since, v_now) END,
        last_success_at = coalesce(excluded.last_success_at, c.last_success_at),
        last_item_at = greatest(c.last_item_at, excluded.last_item_at),
        slept_at = CASE WHEN excluded.error_kind IS NOT NULL THEN coalesce(c.slept_at, excluded.slept_at) END,
        sleep_reason = CASE WHEN excluded.error_kind IS NOT NULL THEN coalesce(excluded.sleep_reason, c.sleep_reason) END,
        -- A poll that failed says nothing about where the address leads.
        redirect_to = CASE WHEN excluded.error_kind IS NULL THEN excluded.redirect_to ELSE c.redirect_to END,
        redirects = CASE WHEN excluded.error_kind IS NOT NULL THEN c.redirects WHEN excluded.redirect_to IS NULL THEN 0
                    WHEN excluded.redirect_to = c.redirect_to THEN least(c.redirects + 1, 100) ELSE 1 END,
        rhythm = coalesce(excluded.rhythm, c.rhythm), weight = coalesce(excluded.weight, c.weight),
        floor_seconds = coalesce(excluded.floor_seconds, c.floor_seconds), delays = c.delays + excluded.delays,
        delay_seconds = c.delay_seconds + excluded.delay_seconds, late_seconds = c.late_seconds + excluded.late_seconds,
        format = coalesce(excluded.format, c.format),
        -- A body that was read has a format: what it does not name any more is gone.
        hub = CASE WHEN excluded.format IS NULL THEN c.hub ELSE excluded.hub END,
        topic = CASE WHEN excluded.format IS NULL THEN c.topic ELSE excluded.topic END,
        -- News that a poll found first: nobody may rely on the hub until it pushes again.
        pushed_until = CASE WHEN excluded.items_new > 0 THEN NULL ELSE c.pushed_until END;
      -- Few polls find something new. Each item counts with the mean of its poll: single delays do not travel.
      IF strpos(p_items::text, '"channel_delays"') > 0 THEN
        SELECT array_agg(delay_bucket(i.channel_delay_s / i.channel_delays)) INTO v_delays
          FROM json_populate_recordset(NULL::settle_item, p_items) i
         CROSS JOIN generate_series(1, least(i.channel_delays, 1000))
         WHERE i.channel_delays > 0 AND i.url_hash = ANY (v_hashes);
      END IF;
    END IF;

    IF v_probed THEN
      INSERT INTO probe_results (bucket, domain_key, url_hash, at, result)
      SELECT p_bucket, p_domain_key, i.url_hash, v_now, i.result
        FROM json_populate_recordset(NULL::settle_item, p_items) i
       WHERE i.result IS NOT NULL AND i.url_hash = ANY (v_hashes)
      ON CONFLICT (bucket, domain_key, url_hash) DO UPDATE SET at = excluded.at, result = excluded.result;
    END IF;
  END IF;

  IF v_reports THEN
    PERFORM settle_reports(p_bucket, p_requests, p_documents, p_domain, v_hashes, v_stored, v_now);
  END IF;

  IF v_requests > 0 OR cardinality(v_stored.made) + v_stored.changed > 0 OR v_delays IS NOT NULL THEN
    -- By source, from what was read above: a lease has one or two of them. Histograms are of all together, on any row.
    INSERT INTO counter_deltas (bucket, minute, source_id, requests, bytes, pages, errors, documents, versions, latencies, delays)
    SELECT p_bucket, date_trunc('minute', v_now), x.source_id, sum(x.requests), coalesce(sum(x.bytes), 0),
           count(*) FILTER (WHERE x.page), count(*) FILTER (WHERE x.error), sum(x.documents), sum(x.versions),
           CASE WHEN row_number() OVER () = 1 THEN v_latencies END, CASE WHEN row_number() OVER () = 1 THEN v_delays END
      FROM (SELECT r.source_id, 1 AS requests, r.bytes, r.page, r.error, 0 AS documents, 0 AS versions
              FROM unnest(v_sources, v_sizes, v_are_pages, v_are_errors) r(source_id, bytes, page, error)
            UNION ALL SELECT d.source_id, 0, 0, false, false, 1, 0 FROM unnest(v_stored.sources) d(source_id)
            UNION ALL SELECT NULL, 0, 0, false, false, 0, v_stored.changed
             WHERE v_stored.changed > 0 OR (v_requests = 0 AND v_delays IS NOT NULL)) x
     GROUP BY x.source_id;
  END IF;
  IF cardinality(v_paid) > 0 AND v_slot.budget_until IS NOT NULL THEN
    UPDATE domain_runs r
       SET pages = r.pages + cardinality(v_paid),
           documents = r.documents + (SELECT count(*) FROM unnest(v_stored.made) h WHERE h = ANY (v_paid))
     WHERE r.bucket = p_bucket AND r.domain_key = p_domain_key AND r.until_at = v_slot.budget_until;
  END IF;

  -- The slot as it will be.
  v_slot.penalty_ms := coalesce(v_learnt.penalty_ms, v_slot.penalty_ms);
  v_slot.good_run := coalesce(v_learnt.good_run, v_slot.good_run);
  v_slot.robots_delay_ms := coalesce(v_learnt.robots_delay_ms, v_slot.robots_delay_ms);
  v_slot.source_delay_ms := coalesce(v_learnt.source_delay_ms, v_slot.source_delay_ms);
  v_slot.last_good_at := coalesce(v_good_at, v_slot.last_good_at);
  IF v_learnt.ladder IS NOT NULL THEN
    v_slot.refusals := nullif(ARRAY(SELECT jsonb_array_elements_text(v_learnt.ladder -> 'refusals')), '{}');
    v_slot.circuit_good := (v_learnt.ladder ->> 'circuitGood')::smallint;
    v_slot.network_failures := (v_learnt.ladder ->> 'networkFailures')::smallint;
    v_slot.network_since := v_now - ms((v_learnt.ladder ->> 'networkForMs')::float8);
    SELECT array_agg(v_now - ms((o ->> 'ageMs')::float8)), array_agg(o ->> 'reason')
      INTO v_slot.circuit_opens, v_slot.circuit_reasons FROM jsonb_array_elements(v_learnt.ladder -> 'opens') o;
  END IF;
  IF cardinality(v_hashes) > 0 THEN
    v_slot.expired_runs := 0;
  END IF;
  IF p_final THEN
    v_delay := slot_delay_ms(v_slot, p_default_delay_ms);
    v_slot.budget_left := v_slot.budget_left + slot_reserved(v_slot, v_hashes);
    v_slot.next_at := greatest(v_now, v_now + ms(v_delay - p_idle_ms), v_now + ms(v_learnt.hold_ms));
    v_slot.hold_reason := CASE WHEN v_learnt.hold_ms > v_delay - p_idle_ms THEN v_learnt.hold_reason ELSE 'politeness' END;
    v_slot.in_flight := NULL;
    v_slot.lease_owner := NULL;
    v_slot.lease_until := NULL;
    v_slot.leased_at := NULL;
    IF v_learnt.move_to IS NOT NULL OR v_slot.rest_until IS NOT NULL THEN
      v_slot := settle_status(v_slot, v_learnt, p_owner, v_now);
    END IF;
    IF v_slot.awaits_render OR v_slot.pool <> v_slot.own_pool THEN
      v_slot := slot_turn(v_slot, true, v_now);
    ELSE
      v_slot.top := slot_top(v_slot, v_now);
    END IF;
    -- Channels do not count: a domain is exhausted when no page of it is pending, failed or in flight.
    IF NOT v_slot.asleep AND v_slot.budgeted = 0 AND (v_slot.top IS NULL OR v_slot.top > 10) THEN
      v_exhausted := NOT EXISTS (
          SELECT FROM url_frontier f WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key AND f.ready
             AND NOT f.budgeted AND f.level <= 10)
        AND NOT EXISTS (
          SELECT FROM url_frontier f WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key
             AND NOT f.ready AND f.due_at IS NOT NULL AND f.status <> 'fetched'
             AND f.status IN ('pending', 'failed') AND f.kind IN ('article', 'listing'));
      v_slot.asleep := v_exhausted;
    END IF;
  ELSE
    v_slot.in_flight := ARRAY(SELECT h FROM unnest(v_slot.in_flight) h WHERE h <> ALL (v_hashes));
  END IF;

  IF v_requests > 0 OR v_exhausted THEN
    SELECT * INTO v_domain FROM domains d WHERE d.bucket = p_bucket AND d.domain_key = p_domain_key;
    v_domain.pages_crawled := v_domain.pages_crawled + v_pages;
    v_domain.documents := v_domain.documents + cardinality(v_stored.made);
    v_domain.errors_total := v_domain.errors_total + v_errors;
    v_domain.last_crawled_at := CASE WHEN v_requests > 0 THEN v_now ELSE v_domain.last_crawled_at END;
    v_domain.images_stored := v_domain.images_stored + v_images_stored;
    v_score := CASE WHEN p_final THEN domain_score(v_domain, v_slot.queued, v_now) ELSE v_domain.score END;
    UPDATE domains d
       SET pages_crawled = v_domain.pages_crawled, documents = v_domain.documents, errors_total = v_domain.errors_total,
           errors_consecutive = CASE WHEN v_good_at IS NULL THEN d.errors_consecutive + v_errors ELSE v_errors_since END,
           unreachable_count = CASE WHEN v_good_at IS NULL THEN d.unreachable_count ELSE 0 END,
           last_crawled_at = v_domain.last_crawled_at, images_found = d.images_found + v_stored.images,
           images_stored = v_domain.images_stored, depth_reached = greatest(d.depth_reached, v_depth),
           entry_url = coalesce(d.entry_url, v_entry), score = v_score,
           status = CASE WHEN v_exhausted THEN 'exhausted' ELSE d.status END,
           status_since = CASE WHEN v_exhausted THEN v_now ELSE d.status_since END
     WHERE d.bucket = p_bucket AND d.domain_key = p_domain_key;
    IF p_final AND v_slot.shift <> score_shift(v_score) THEN
      v_slot.shift := score_shift(v_score);
      v_slot.top := slot_top(v_slot, v_now);
    END IF;
  END IF;

  UPDATE domain_slots s
     SET queued = v_slot.queued, budgeted = v_slot.budgeted, budget_left = v_slot.budget_left, penalty_ms = v_slot.penalty_ms,
         good_run = v_slot.good_run, robots_delay_ms = v_slot.robots_delay_ms, source_delay_ms = v_slot.source_delay_ms,
         last_good_at = v_slot.last_good_at, refusals = v_slot.refusals, circuit_good = v_slot.circuit_good,
         circuit_opens = v_slot.circuit_opens, circuit_reasons = v_slot.circuit_reasons,
         network_failures = v_slot.network_failures, network_since = v_slot.network_since,
         expired_runs = v_slot.expired_runs, in_flight = v_slot.in_flight, lease_owner = v_slot.lease_owner,
         lease_until = v_slot.lease_until, leased_at = v_slot.leased_at, next_at = v_slot.next_at,
         hold_reason = v_slot.hold_reason, pool = v_slot.pool, awaits_render = v_slot.awaits_render,
         render_until = v_slot.render_until, top = v_slot.top, shift = v_slot.shift, asleep = v_slot.asleep,
         rest_until = v_slot.rest_until, wake_at = slot_wake(v_slot, p_budget, true, v_now)
   WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key;

  outcome := 'settled';
  settled := cardinality(v_hashes);
  documents := cardinality(v_stored.made);
  versions := v_stored.changed;
  duplicates := cardinality(v_stored.twins);
  RETURN NEXT;
END $$;

-- Tells executions what was done for them; who runs one writes it into its log. Ids that are no job's are left alone.
CREATE FUNCTION settle_reports(
  p_bucket smallint, p_requests json, p_documents json, p_domain json, p_settled bytea[], p_stored settle_stored,
  p_now timestamptz)
RETURNS void LANGUAGE sql AS $$
  WITH request AS (
    SELECT r.* FROM json_populate_recordset(NULL::settle_request, p_requests) r
     WHERE EXISTS (SELECT FROM job_executions e WHERE e.id = r.execution_id)
  ), learnt AS (
    SELECT l.* FROM json_populate_record(NULL::settle_domain, p_domain) l WHERE l.hold_ms > 0
  )
  INSERT INTO execution_reports (bucket, execution_id, at, what, kind, status, outcome, url, total_ms, bytes, title, words)
  SELECT p_bucket, r.execution_id, p_now - ms(r.ago_ms), 'request', r.kind, r.status, r.outcome, r.url, r.total_ms, r.bytes,
         NULL, NULL
    FROM request r
  UNION ALL
  SELECT p_bucket, r.execution_id, p_now, 'document', d.page_type, NULL,
         CASE WHEN d.url_hash = ANY ((p_stored).made) THEN 'new' WHEN d.url_hash = ANY ((p_stored).twins) THEN 'duplicate'
              WHEN d.url_hash = ANY ((p_stored).same) THEN 'unchanged' ELSE 'changed' END,
         d.url, NULL, NULL, left(d.title, 300), d.word_count
    FROM json_populate_recordset(NULL::settle_document, p_documents) d
    -- Behind a redirect the document has the target's hash, and the last request its address.
    JOIN LATERAL (SELECT r.execution_id FROM request r WHERE r.url_hash = d.url_hash OR r.url = d.url LIMIT 1) r ON true
   WHERE d.url_hash = ANY (p_settled)
  UNION ALL
  SELECT p_bucket, x.execution_id, p_now, 'hold', l.hold_reason::text, NULL, l.move_reason, NULL, l.hold_ms::integer, l.penalty_ms,
         NULL, NULL
    FROM learnt l CROSS JOIN (SELECT DISTINCT r.execution_id FROM request r) x
$$;

-- What a lease means for its domain's status: a rest begins, a trial ended one, or the rest goes on until the next day.
CREATE FUNCTION settle_status(v_slot domain_slots, p_learnt settle_domain, p_actor text, p_now timestamptz)
RETURNS domain_slots LANGUAGE plpgsql AS $$
DECLARE
  v_domain domains;
BEGIN
  IF p_learnt.move_to IS NOT NULL
     AND domain_move(v_slot.bucket, v_slot.domain_key, p_learnt.move_to, p_learnt.move_reason, p_actor, p_now) THEN
    SELECT * INTO v_domain FROM domains d WHERE d.bucket = v_slot.bucket AND d.domain_key = v_slot.domain_key;
    v_slot.rest_until := CASE
      -- The third block is for good, until somebody resets the domain.
      WHEN p_learnt.move_to = 'blocked' AND v_domain.block_count >= 3 THEN 'infinity'
      ELSE p_now + ms(p_learnt.rest_ms[least(cardinality(p_learnt.rest_ms), CASE p_learnt.move_to
        WHEN 'blocked' THEN v_domain.block_count ELSE v_domain.unreachable_count END)]) END;
    v_slot.next_at := CASE WHEN v_slot.rest_until = 'infinity' THEN 'infinity'::timestamptz
                      ELSE least(v_slot.rest_until, p_now + interval '1 day') END;
    v_slot.hold_reason := CASE WHEN p_learnt.move_reason = 'robots_denied' THEN 'robots' ELSE 'cooldown' END;
    v_slot.asleep := true;
  ELSIF v_slot.rest_until > p_now AND p_learnt.trial_passed THEN
    PERFORM domain_move(v_slot.bucket, v_slot.domain_key, 'active', 'trial succeeded', p_actor, p_now);
    v_slot.rest_until := NULL;
    v_slot.asleep := false;
  ELSIF v_slot.rest_until > p_now THEN
    v_slot.next_at := least(v_slot.rest_until, p_now + interval '1 day');
    v_slot.hold_reason := CASE WHEN EXISTS (
      SELECT FROM domains d WHERE d.bucket = v_slot.bucket AND d.domain_key = v_slot.domain_key
         AND d.status_reason = 'robots_denied') THEN 'robots' ELSE 'cooldown' END;
  END IF;
  RETURN v_slot;
END $$;
