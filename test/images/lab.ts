import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BlobStore, openFolderStore, openS3Store } from '../../src/blobs/index.ts';
import { ensurePartitions, type SubmitItem, submit, type UrlKind } from '../../src/frontier/index.ts';
import { sightSubmitted } from '../../src/images/index.ts';
import { createSource, type ImageMode, type Source, updateSource } from '../../src/sources/index.ts';
import { identifyUrl } from '../../src/url/index.ts';
import { waitUntil } from '../e2e/wait.ts';
import { Outrider } from '../process/outrider.ts';
import type { TestS3 } from '../s3/server.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { ImageSite } from './site.ts';

/** A stored image with the pages that show it. */
export type StoredImage = {
  sha256: string;
  width: number;
  height: number;
  format: string;
  bytes: number;
  hash: bigint | null;
  storedIn: string;
  pages: number;
};

/** Sites on loopback, a database, a blob store and real fetchers. */
export class ImageLab {
  readonly site: ImageSite;
  readonly database: TestDatabase;
  readonly blobs: BlobStore;
  readonly dir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly #running = new Set<Outrider>();

  private constructor(site: ImageSite, database: TestDatabase, dir: string, s3: TestS3 | null) {
    this.site = site;
    this.database = database;
    this.dir = dir;
    const folder = join(dir, 'blobs');
    this.blobs = s3 === null ? openFolderStore(folder) : openS3Store({ ...s3, prefix: 'images' });
    this.env = {
      DATABASE_URL: database.url,
      OUTRIDER_FETCH_HOSTS_FILE: join(dir, 'hosts'),
      OUTRIDER_FETCH_ALLOW_NETWORKS: site.network,
      OUTRIDER_FETCH_DEFAULT_DELAY_MS: '20',
      OUTRIDER_FETCH_NETWORK_CONCURRENCY: '0',
      OUTRIDER_FETCH_NETWORK_GAP_MS: '0',
      OUTRIDER_FETCH_TIMEOUT_MS: '3000',
      OUTRIDER_FETCH_LEASE_SECONDS: '5',
      OUTRIDER_FETCH_MAX_TRIES: '3',
      OUTRIDER_IMAGES_MAX_PER_PAGE: '40',
      OUTRIDER_IMAGES_MAX_BYTES: '2000000',
      LOG_LEVEL: 'warn',
      LOG_FORMAT: 'json',
      ...(s3 === null
        ? { OUTRIDER_BLOBS_DIR: folder }
        : {
            OUTRIDER_BLOBS_KIND: 's3',
            OUTRIDER_S3_ENDPOINT: s3.endpoint,
            OUTRIDER_BLOBS_BUCKET: s3.bucket,
            OUTRIDER_S3_REGION: s3.region,
            OUTRIDER_BLOBS_PREFIX: 'images',
            OUTRIDER_S3_ACCESS_KEY: s3.accessKeyId,
            OUTRIDER_S3_SECRET_KEY: s3.secretAccessKey,
          }),
    };
  }

  static async open(hosts: readonly string[], s3: TestS3 | null = null): Promise<ImageLab> {
    const dir = mkdtempSync(join(tmpdir(), 'outrider-images-'));
    const site = await ImageSite.open();
    writeFileSync(join(dir, 'hosts'), site.hostsLine(...hosts));
    const database = await createTestDatabase();
    // A scheduler that comes later makes the days of the log only while they are empty.
    await ensurePartitions(database.pool, 'crawl_log');
    return new ImageLab(site, database, dir, s3);
  }

  async close(): Promise<void> {
    for (const one of this.#running) await one.stop('SIGKILL');
    await this.site.close();
    await this.blobs.close();
    await this.database.drop();
    rmSync(this.dir, { recursive: true, force: true });
  }

  start(env: Readonly<Record<string, string>> = {}, role: 'fetch' | 'schedule' = 'fetch'): Outrider {
    const one = new Outrider([role], { home: this.dir, env: { ...this.env, ...env } });
    this.#running.add(one);
    return one;
  }

  /** A source with its own word about images, or none. */
  async source(url: string, images: ImageMode | null): Promise<Source> {
    const { source } = await createSource(this.database.pool, { url });
    return (await updateSource(this.database.pool, source.slug, { images }, 'test'))!;
  }

  async submit(url: string, source: Source | null, kind: UrlKind = 'article'): Promise<string> {
    const [result] = await submit(
      this.database.pool,
      [
        {
          url,
          kind,
          origin: 'manual',
          sourceId: source?.id ?? null,
          priority: 5,
          own: true,
          modifiedAt: new Date(),
        },
      ],
      { refetchAgeHours: 0 },
    );
    return result!.answer;
  }

  /** What an article does for one of its images. */
  async submitImage(url: string, source: Source, pageUrl: string): Promise<void> {
    const item: SubmitItem = {
      url,
      kind: 'image',
      origin: 'spider',
      sourceId: source.id,
      priority: 1,
      parentUrl: pageUrl,
      own: false,
    };
    await submit(this.database.pool, [item]);
    await sightSubmitted(this.database.pool, [item], null);
  }

  /** A fetcher knows changes of a source after seconds at most; a new one knows them at once. */
  async renew(): Promise<void> {
    for (const one of this.#running) await one.stop();
    this.#running.clear();
    this.start();
  }

  /** Waits until nothing is leased and nothing due. */
  async idle(): Promise<void> {
    await waitUntil('nothing is due', async () => {
      const result = await this.database.pool.query<{ left: number; urls: string[] | null }>(
        `SELECT count(*)::integer AS left, (array_agg(f.url))[1:5] AS urls
           FROM url_frontier f JOIN domain_slots s USING (bucket, domain_key)
          WHERE s.lease_owner IS NOT NULL OR f.ready OR f.due_at <= now()`,
      );
      const { left, urls } = result.rows[0]!;
      return left === 0 || `${left} rows: ${String(urls)}`;
    });
  }

  /** Makes what waits for its next try due now. */
  async hurry(): Promise<void> {
    const { pool } = this.database;
    await pool.query(`UPDATE url_frontier SET due_at = now() WHERE status = 'failed'`);
    await pool.query('UPDATE domain_slots SET wake_at = now()');
  }

  /** The state of an address: its status, with the reason where there is one. */
  async state(url: string): Promise<string | null> {
    const identified = identifyUrl(url);
    if (identified.outcome === 'rejected') throw new Error(`${url}: ${identified.reason}`);
    const { bucket, domainKey, hash } = identified.identity;
    const result = await this.database.pool.query<{ state: string }>(
      `SELECT concat_ws(' ', status, error_code) AS state FROM url_frontier
        WHERE bucket = $1 AND domain_key = $2 AND url_hash = $3`,
      [bucket, domainKey.toString(), hash],
    );
    return result.rows[0]?.state ?? null;
  }

  async stored(): Promise<StoredImage[]> {
    const result = await this.database.pool.query<StoredImage>(
      `SELECT encode(m.sha256, 'hex') AS sha256, m.width, m.height, m.format, m.bytes, m.perceptual_hash AS hash,
              m.stored_in AS "storedIn",
              (SELECT count(DISTINCT (s.page_domain_key, s.page_hash))::integer FROM image_sightings s WHERE s.sha256 = m.sha256) AS pages
         FROM images m WHERE m.stored_at IS NOT NULL ORDER BY m.first_seen_at`,
    );
    return result.rows;
  }
}
