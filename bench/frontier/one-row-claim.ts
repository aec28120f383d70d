import type { Queryable } from '../../src/db/index.ts';

/**
 * The usual crawl queue on a table: take the best URL whose host may be fetched, one at a time. Same rows, same hosts,
 * the index everybody gives it. Kinder than most: a host never fetched before may be claimed too.
 */
export async function loadClaimTables(db: Queryable): Promise<void> {
  await db.query(`
    CREATE TABLE claim_hosts (id integer PRIMARY KEY, last_fetched_at timestamptz, delay interval NOT NULL) WITH (fillfactor = 80)`);
  await db.query(`
    CREATE TABLE claim_urls (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, host_id integer NOT NULL, priority smallint NOT NULL,
      status text NOT NULL, due_at timestamptz, last_fetched_at timestamptz, http_status smallint, url text NOT NULL UNIQUE)`);
  await db.query(
    `INSERT INTO claim_hosts SELECT id, now() - interval '1 hour', interval '1 second' FROM bench_domains`,
  );
  await db.query(`
    INSERT INTO claim_urls (host_id, priority, status, due_at, last_fetched_at, http_status, url)
    SELECT d.id, f.level, f.status::text, f.due_at, f.last_fetched_at, f.http_status, f.url
      FROM url_frontier f JOIN bench_domains d USING (bucket, domain_key) ORDER BY f.discovered_at`);
  await db.query(`CREATE INDEX claim_urls_next ON claim_urls (priority DESC, id) WHERE status = 'pending'`);
  await db.query('VACUUM (ANALYZE) claim_urls');
  await db.query('VACUUM (ANALYZE) claim_hosts');
}

/** The hosts that `throttleBest` stops, stopped here as well. */
export async function throttleClaimHosts(db: Queryable): Promise<void> {
  await db.query(`
    UPDATE claim_hosts h SET delay = interval '3 hours' FROM bench_domains d JOIN domain_slots s USING (bucket, domain_key)
     WHERE d.id = h.id AND s.next_at > now() + interval '10 minutes'`);
  await db.query('VACUUM (ANALYZE) claim_hosts');
}

/** Claims and finishes URLs one by one. */
export async function claimOneByOne(db: Queryable, urls: number): Promise<{ urls: number; calls: number }> {
  let done = 0;
  while (done < urls) {
    const claimed = await db.query<{ id: bigint }>(`
      WITH next AS (
        SELECT u.id, u.host_id FROM claim_urls u JOIN claim_hosts h ON h.id = u.host_id
         WHERE u.status = 'pending' AND u.due_at <= now()
           AND (h.last_fetched_at IS NULL OR h.last_fetched_at + h.delay <= now())
         ORDER BY u.priority DESC, u.id LIMIT 1 FOR UPDATE OF u SKIP LOCKED
      ), host AS (
        UPDATE claim_hosts h SET last_fetched_at = now() FROM next WHERE h.id = next.host_id
      )
      UPDATE claim_urls u SET status = 'fetching' FROM next WHERE u.id = next.id RETURNING u.id, u.url`);
    const id = claimed.rows[0]?.id;
    if (id === undefined) {
      // Every host waits its second; happens with few hosts only.
      await new Promise((resolve) => setTimeout(resolve, 50));
      continue;
    }
    await db.query(
      `UPDATE claim_urls SET status = 'fetched', last_fetched_at = now(), http_status = 200 WHERE id = $1`,
      [id.toString()],
    );
    done += 1;
  }
  return { urls, calls: urls };
}
