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
  last_item_at timestamptz, result jsonb, execution_id bigint
);

CREATE TYPE settle_document AS (
  url_hash bytea, url text, source_id integer, word_count integer, confidence real, published_at timestamptz,
  modified_at timestamptz, content_hash bytea, page_type text, language text, canonical_url text, title text,
  section text, description text, lead_image text, authors text[], keywords text[], meta jsonb, text text,
  raw_index integer, raw_encoding text, raw_type text
);

CREATE TYPE settle_request AS (
  ago_ms double precision, status smallint, kind text, outcome text, url_hash bytea, url text, source_id integer,
  execution_id bigint, wait_ms integer, headers_ms integer, total_ms integer, bytes bigint
);

-- Stores one document; answers 'new', 'changed', 'same', or the hash it duplicates.
CREATE FUNCTION settle_one_document(p_bucket smallint, p_domain_key bigint, d settle_document, p_raw bytea[], p_now timestamptz)
RETURNS TABLE (outcome text, duplicate_of bytea) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_old record;
  v_version integer := 1;
  v_twin bytea;
BEGIN
  IF d.page_type <> 'stub' THEN
    SELECT o.url_hash INTO v_twin FROM documents o
     WHERE o.bucket = p_bucket AND o.domain_key = p_domain_key AND o.content_hash = d.content_hash
       AND o.page_type <> 'stub' AND o.url_hash <> d.url_hash;
    IF FOUND THEN
      RETURN QUERY SELECT 'duplicate', v_twin;
      RETURN;
    END IF;
  END IF;
  SELECT o.content_hash, o.version INTO v_old FROM documents o
   WHERE o.bucket = p_bucket AND o.domain_key = p_domain_key AND o.url_hash = d.url_hash;
  IF FOUND AND v_old.content_hash = d.content_hash THEN
    UPDATE documents o SET last_seen_at = p_now
     WHERE o.bucket = p_bucket AND o.domain_key = p_domain_key AND o.url_hash = d.url_hash;
    RETURN QUERY SELECT 'same', NULL::bytea;
    RETURN;
  END IF;
  IF FOUND THEN
    v_version := v_old.version + 1;
    INSERT INTO document_versions (bucket, domain_key, url_hash, version, crawled_at, content_hash, title, text)
    SELECT o.bucket, o.domain_key, o.url_hash, o.version, o.crawled_at, o.content_hash, o.title, o.text FROM documents o
     WHERE o.bucket = p_bucket AND o.domain_key = p_domain_key AND o.url_hash = d.url_hash;
  END IF;
  INSERT INTO documents (bucket, domain_key, url_hash, source_id, version, word_count, confidence, first_seen_at,
      last_seen_at, crawled_at, published_at, modified_at, content_hash, page_type, language, url, canonical_url, title,
      section, description, lead_image, authors, keywords, meta, text)
  VALUES (p_bucket, p_domain_key, d.url_hash, d.source_id, v_version, d.word_count, d.confidence, p_now, p_now, p_now,
      d.published_at, d.modified_at, d.content_hash, d.page_type, d.language, d.url, d.canonical_url, d.title, d.section,
      d.description, d.lead_image, coalesce(d.authors, '{}'), coalesce(d.keywords, '{}'), coalesce(d.meta, '{}'), d.text)
  ON CONFLICT (bucket, domain_key, url_hash) DO UPDATE SET
      version = excluded.version, word_count = excluded.word_count, confidence = excluded.confidence,
      last_seen_at = p_now, crawled_at = p_now, published_at = coalesce(excluded.published_at, documents.published_at),
      modified_at = excluded.modified_at, content_hash = excluded.content_hash, page_type = excluded.page_type,
      language = excluded.language, url = excluded.url, canonical_url = excluded.canonical_url, title = excluded.title,
      section = excluded.section, description = excluded.description, lead_image = excluded.lead_image,
      authors = excluded.authors, keywords = excluded.keywords, meta = excluded.meta, text = excluded.text,
      -- The verdict was about the old text.
      classification_status = 'pending', classified_at = NULL;
  IF d.raw_index IS NOT NULL THEN
    INSERT INTO raw_pages (bucket, domain_key, url_hash, fetched_at, encoding, content_type, body)
    VALUES (p_bucket, p_domain_key, d.url_hash, p_now, d.raw_encoding, d.raw_type, p_raw[d.raw_index])
    ON CONFLICT DO NOTHING;
  END IF;
  IF d.page_type <> 'stub' THEN
    INSERT INTO outbox (bucket, sink, domain_key, url_hash, version, enqueued_at)
    SELECT p_bucket, s.name, p_domain_key, d.url_hash, v_version, p_now FROM sinks s WHERE s.enabled;
  END IF;
  RETURN QUERY SELECT CASE WHEN v_version = 1 THEN 'new' ELSE 'changed' END, NULL::bytea;
END $$;

-- Ends URLs, and with p_final the lease. Fenced by owner and epoch: a late worker changes nothing, but what it
-- requested is still logged.
CREATE FUNCTION frontier_settle(
  p_bucket smallint, p_domain_key bigint, p_owner text, p_epoch bigint, p_final boolean,
  p_items json, p_documents json, p_raw bytea[], p_requests json,
  p_idle_ms double precision,  -- since the last response's headers, or its failure
  p_default_delay_ms integer,
  p_hold_ms double precision DEFAULT NULL, p_hold_reason hold_reason DEFAULT NULL,
  p_penalty_ms integer DEFAULT NULL, p_good_run smallint DEFAULT NULL, p_robots_delay_ms integer DEFAULT NULL,
  p_skew interval DEFAULT '0')
RETURNS TABLE (outcome text, settled integer, documents integer, versions integer, duplicates integer)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_now timestamptz := now() + p_skew;
  v_slot domain_slots;
  v_document settle_document;
  v_result record;
  v_targets bytea[] := '{}';
  v_unchanged bytea[];
  v_polled boolean;
  v_probed boolean;
  v_twins bytea[] := '{}';
  v_twin_of bytea[] := '{}';
  v_new integer := 0;
  v_changed integer := 0;
  v_hashes bytea[] := '{}';
  v_held integer := 0;
  v_crawled integer := 0;
  v_errors integer := 0;
  v_good boolean := false;
  v_delay integer;
BEGIN
  SELECT * INTO v_slot FROM domain_slots s WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key FOR UPDATE;

  IF p_requests IS NOT NULL THEN
    INSERT INTO crawl_log (at, bucket, domain_key, epoch, status, kind, outcome, url_hash, url, source_id, execution_id,
                           wait_ms, headers_ms, total_ms, bytes, worker)
    SELECT v_now - ms(r.ago_ms), p_bucket, p_domain_key, p_epoch, r.status, r.kind, r.outcome, r.url_hash, r.url,
           r.source_id, r.execution_id, r.wait_ms, r.headers_ms, r.total_ms, r.bytes, p_owner
      FROM json_populate_recordset(NULL::settle_request, p_requests) r;
  END IF;
  IF v_slot.lease_owner IS DISTINCT FROM p_owner OR v_slot.lease_epoch IS DISTINCT FROM p_epoch THEN
    RETURN QUERY SELECT 'stale', 0, 0, 0, 0;
    RETURN;
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
        RETURNING source_id),
      counted AS (
        INSERT INTO counter_deltas (bucket, minute, source_id, inserted)
        SELECT p_bucket, date_trunc('minute', v_now), source_id, count(*) FROM made GROUP BY source_id)
      SELECT coalesce(array_agg(i.url_hash), '{}') INTO v_targets FROM target i;
      UPDATE domain_slots s SET queued = s.queued - x.n
        FROM (SELECT count(*)::integer AS n FROM url_frontier f
               WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key AND f.url_hash = ANY (v_targets) AND f.ready
                 AND f.url_hash <> ALL (v_slot.in_flight)) x
       WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key AND x.n > 0;
    END IF;

    IF p_documents IS NOT NULL THEN
      FOR v_document IN SELECT * FROM json_populate_recordset(NULL::settle_document, p_documents) LOOP
        CONTINUE WHEN v_document.url_hash <> ALL (v_slot.in_flight) AND v_document.url_hash <> ALL (v_targets);
        SELECT * INTO v_result FROM settle_one_document(p_bucket, p_domain_key, v_document, p_raw, v_now);
        IF v_result.outcome = 'duplicate' THEN
          v_twins := v_twins || v_document.url_hash;
          v_twin_of := v_twin_of || v_result.duplicate_of;
        ELSIF v_result.outcome = 'new' THEN
          v_new := v_new + 1;
        ELSIF v_result.outcome = 'changed' THEN
          v_changed := v_changed + 1;
        END IF;
      END LOOP;
    END IF;

    WITH settled AS (
      UPDATE url_frontier f SET
        status = CASE WHEN i.twin_of IS NOT NULL THEN 'duplicate' ELSE i.status END,
        duplicate_of = coalesce(i.twin_of, CASE WHEN i.status = 'duplicate' THEN f.duplicate_of END),
        ready = false,
        due_at = v_now + ms(i.due_in_ms),
        tries = coalesce(i.tries, f.tries),
        crashes = 0,
        http_status = i.http_status,
        error_code = i.error_code,
        error_text = i.error_text,
        etag = CASE WHEN i.unchanged THEN coalesce(i.etag, f.etag) WHEN i.fetched THEN i.etag ELSE f.etag END,
        last_modified = CASE WHEN i.unchanged THEN coalesce(i.last_modified, f.last_modified)
                        WHEN i.fetched THEN i.last_modified ELSE f.last_modified END,
        content_hash = coalesce(i.content_hash, f.content_hash),
        redirected_to = i.redirected_to,
        url = coalesce(i.url, f.url),
        refresh_seconds = coalesce(i.refresh_seconds, f.refresh_seconds),
        validation_status = coalesce(i.validation_status, f.validation_status),
        rejection_reason = CASE WHEN i.validation_status IS NULL THEN f.rejection_reason ELSE i.rejection_reason END,
        last_fetched_at = CASE WHEN i.fetched THEN v_now ELSE f.last_fetched_at END,
        fetch_count = f.fetch_count + CASE WHEN i.fetched THEN 1 ELSE 0 END
      -- Item by item through the key. Left to itself the planner believes that a domain has one row and reads the whole
      -- domain, or joins every item with every row.
      FROM (SELECT i.*, v_twin_of[array_position(v_twins, i.url_hash)] AS twin_of,
                   (SELECT k.ctid FROM url_frontier k
                     WHERE k.bucket = p_bucket AND k.domain_key = p_domain_key AND k.url_hash = i.url_hash) AS row_at
              FROM json_populate_recordset(NULL::settle_item, p_items) i
             WHERE i.target OR i.url_hash = ANY (v_slot.in_flight) OFFSET 0) i
      WHERE f.ctid = i.row_at
      RETURNING f.url_hash, f.status, f.kind, f.source_id, f.error_code, i.fetched, i.unchanged, i.target,
                i.items_seen, i.items_duplicate, i.items_rejected, i.channel_id, i.result IS NOT NULL AS probed
    ), delta AS (
      INSERT INTO counter_deltas (bucket, minute, source_id, items_seen, items_duplicate, items_rejected, fetched,
                                  unchanged, redirected, duplicate, failed, needs_render, dead, robots_blocked, polled)
      SELECT p_bucket, date_trunc('minute', v_now), source_id,
             coalesce(sum(items_seen), 0), coalesce(sum(items_duplicate), 0), coalesce(sum(items_rejected), 0),
             count(*) FILTER (WHERE kind <> 'channel' AND status = 'fetched'), count(*) FILTER (WHERE unchanged),
             count(*) FILTER (WHERE status = 'redirected'), count(*) FILTER (WHERE status = 'duplicate'),
             count(*) FILTER (WHERE status = 'failed'), count(*) FILTER (WHERE status = 'needs_render'),
             count(*) FILTER (WHERE status = 'dead'), count(*) FILTER (WHERE error_code = 'robots_blocked'),
             count(*) FILTER (WHERE kind = 'channel' AND fetched)
        FROM settled WHERE kind <> 'probe' GROUP BY source_id
    )
    SELECT coalesce(array_agg(url_hash), '{}'), count(*) FILTER (WHERE fetched AND kind IN ('article', 'listing')),
           count(*) FILTER (WHERE status IN ('failed') OR (status = 'dead' AND error_code <> 'robots_blocked')),
           coalesce(bool_or(fetched AND status IN ('fetched', 'duplicate', 'pending')), false),
           array_agg(url_hash) FILTER (WHERE unchanged AND kind = 'article'), bool_or(channel_id IS NOT NULL), bool_or(probed),
           count(*) FILTER (WHERE target IS NOT TRUE OR url_hash = ANY (v_slot.in_flight))
      INTO v_hashes, v_crawled, v_errors, v_good, v_unchanged, v_polled, v_probed, v_held FROM settled;

    IF v_unchanged IS NOT NULL THEN
      UPDATE documents d SET last_seen_at = v_now
       WHERE d.bucket = p_bucket AND d.domain_key = p_domain_key AND d.url_hash = ANY (v_unchanged);
    END IF;

    IF v_polled THEN
      INSERT INTO channel_state AS c (bucket, channel_id, polls, not_modified, items_seen, items_new, errors_in_row,
                                      error_kind, failing_since, last_success_at, last_item_at, format, hub)
      SELECT p_bucket, i.channel_id, 1, CASE WHEN i.unchanged THEN 1 ELSE 0 END, coalesce(i.items_seen, 0),
             coalesce(i.channel_new, 0), CASE WHEN i.channel_error IS NULL THEN 0 ELSE 1 END, i.channel_error,
             CASE WHEN i.channel_error IS NULL THEN NULL ELSE v_now END,
             CASE WHEN i.channel_error IS NULL THEN v_now END, i.last_item_at, i.channel_format, i.channel_hub
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
        format = coalesce(excluded.format, c.format), hub = coalesce(excluded.hub, c.hub);
    END IF;

    IF v_probed THEN
      INSERT INTO probe_results (bucket, domain_key, url_hash, at, result)
      SELECT p_bucket, p_domain_key, i.url_hash, v_now, i.result
        FROM json_populate_recordset(NULL::settle_item, p_items) i
       WHERE i.result IS NOT NULL AND i.url_hash = ANY (v_hashes)
      ON CONFLICT (bucket, domain_key, url_hash) DO UPDATE SET at = excluded.at, result = excluded.result;
    END IF;
  END IF;

  IF v_new + v_changed > 0 OR p_requests IS NOT NULL THEN
    INSERT INTO counter_deltas (bucket, minute, source_id, requests, bytes, documents, versions)
    SELECT p_bucket, date_trunc('minute', v_now), NULL, coalesce(count(*), 0), coalesce(sum(r.bytes), 0), v_new, v_changed
      FROM json_populate_recordset(NULL::settle_request, coalesce(p_requests, '[]')) r;
  END IF;

  v_delay := slot_delay_ms(coalesce(p_robots_delay_ms, v_slot.robots_delay_ms), v_slot.configured_delay_ms,
                           coalesce(p_penalty_ms, v_slot.penalty_ms), p_default_delay_ms);
  WITH domain AS (
    UPDATE domains d SET pages_crawled = d.pages_crawled + v_crawled, documents = d.documents + v_new,
           errors_total = d.errors_total + v_errors, last_crawled_at = v_now,
           errors_consecutive = CASE WHEN v_good THEN 0 ELSE d.errors_consecutive + v_errors END
     WHERE d.bucket = p_bucket AND d.domain_key = p_domain_key AND (v_crawled + v_errors + v_new > 0 OR v_good)
  )
  UPDATE domain_slots s
     SET queued = s.queued - v_held,
         penalty_ms = coalesce(p_penalty_ms, s.penalty_ms),
         good_run = coalesce(p_good_run, s.good_run),
         robots_delay_ms = coalesce(p_robots_delay_ms, s.robots_delay_ms),
         expired_runs = CASE WHEN cardinality(v_hashes) > 0 THEN 0 ELSE s.expired_runs END,
         in_flight = CASE WHEN p_final THEN NULL ELSE ARRAY(SELECT h FROM unnest(v_slot.in_flight) h WHERE h <> ALL (v_hashes)) END,
         lease_owner = CASE WHEN p_final THEN NULL ELSE s.lease_owner END,
         lease_until = CASE WHEN p_final THEN NULL ELSE s.lease_until END,
         leased_at = CASE WHEN p_final THEN NULL ELSE s.leased_at END,
         next_at = CASE WHEN p_final THEN greatest(v_now, v_now + ms(v_delay - p_idle_ms), v_now + ms(p_hold_ms)) ELSE s.next_at END,
         hold_reason = CASE WHEN NOT p_final THEN s.hold_reason
                       WHEN p_hold_ms IS NOT NULL AND p_hold_ms > v_delay - p_idle_ms THEN p_hold_reason ELSE 'politeness' END,
         top = CASE WHEN p_final THEN (
                 SELECT f.level FROM url_frontier f WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key AND f.ready
                  ORDER BY f.level DESC LIMIT 1) ELSE s.top END,
         wake_at = (SELECT f.due_at FROM url_frontier f WHERE f.bucket = p_bucket AND f.domain_key = p_domain_key
                       AND NOT f.ready AND f.due_at IS NOT NULL ORDER BY f.due_at LIMIT 1)
   WHERE s.bucket = p_bucket AND s.domain_key = p_domain_key;

  outcome := 'settled';
  settled := cardinality(v_hashes);
  documents := v_new;
  versions := v_changed;
  duplicates := cardinality(v_twins);
  RETURN NEXT;
END $$;
