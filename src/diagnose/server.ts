import { type Database, isPooled, migrationStatus } from '../db/index.ts';
import { type CheckResult, fail, ok, warn } from './check.ts';

const skewMs = 2000;

/** Which server it is and since when it runs. */
export async function checkServer({ pool, embedded }: Database): Promise<CheckResult> {
  const { rows } = await pool.query<{ version: string; upSeconds: number; isReplica: boolean }>(
    `SELECT split_part(current_setting('server_version'), ' ', 1) AS version, pg_is_in_recovery() AS "isReplica",
            extract(epoch FROM now() - pg_postmaster_start_time())::float8 AS "upSeconds"`,
  );
  const { version, upSeconds, isReplica } = rows[0]!;
  if (isReplica)
    return fail(
      `PostgreSQL ${version} answers, but it is a replica and takes no writes.`,
      'Point DATABASE_URL at the primary, or at a name, proxy or pooler that follows it.',
    );
  return ok(
    `${embedded ? 'The embedded PostgreSQL' : 'PostgreSQL'} ${version} answers; it has run for ${spanText(upSeconds)}.`,
  );
}

const spanText = (seconds: number): string =>
  seconds < 90
    ? `${Math.round(seconds)} s`
    : seconds < 5400
      ? `${Math.round(seconds / 60)} min`
      : seconds < 172_800
        ? `${Math.round(seconds / 3600)} h`
        : `${Math.round(seconds / 86_400)} d`;

/** Whether the schema is the one this program works with. */
export async function checkSchema({ pool }: Database): Promise<CheckResult> {
  const all = await migrationStatus(pool);
  const known = all.length;
  const missing = all.filter((one) => one.appliedAt === undefined);
  const changed = all.find((one) => one.changed);
  if (changed !== undefined)
    return fail(
      `Migration ${changed.version} (${changed.name}) is not the one this database was built with.`,
      'Use the version of Outrider that made the database, or move the data with "outrider db export".',
    );
  if (missing.length === known)
    return warn('The database is empty.', '"outrider up" or "outrider migrate" makes its tables.');
  if (missing.length > 0)
    return warn(
      `The schema lacks ${missing.length} of ${known} migrations.`,
      '"outrider migrate" applies them; so does every start.',
    );
  return ok(`The schema is at version ${all.at(-1)?.version ?? 0}.`);
}

/** How far this machine's clock is from the database's, which leases and due dates go by. */
export async function checkClock({ pool }: Database): Promise<CheckResult> {
  // A connection of its own first: the wait for one is no part of the question.
  const client = await pool.connect();
  const before = Date.now();
  const { rows } = await client
    .query<{ ms: number }>(`SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms`)
    .finally(() => client.release());
  const after = Date.now();
  const skew = rows[0]!.ms - (before + after) / 2;
  // Half the round trip is all that the middle of it can be wrong by.
  const size = Math.max(0, Math.abs(skew) - (after - before) / 2);
  if (size > skewMs)
    return warn(
      `This machine's clock is ${spanText(size / 1000)} ${skew > 0 ? 'behind' : 'ahead of'} the database's.`,
      'Run a time service (chrony, systemd-timesyncd) on both. Leases go by the database; shown times do not.',
    );
  return ok(`The clocks of this machine and the database agree; a question takes ${after - before} ms.`);
}

/** Whether text sorts as the indexes were built: a new operating system may sort otherwise. */
export async function checkCollation({ pool }: Database): Promise<CheckResult> {
  const { rows } = await pool.query<{
    name: string;
    encoding: string;
    collation: string;
    built: string | null;
    actual: string | null;
  }>(
    `SELECT datname AS name, pg_encoding_to_char(encoding) AS encoding, datcollate AS collation,
            datcollversion AS built, pg_database_collation_actual_version(oid) AS actual
       FROM pg_database WHERE datname = current_database()`,
  );
  const { name, encoding, collation, built, actual } = rows[0]!;
  if (encoding !== 'UTF8')
    return fail(
      `The database's encoding is ${encoding}.`,
      `Make it anew with ENCODING 'UTF8' TEMPLATE template0; articles are written in every script.`,
    );
  if (built !== null && actual !== null && built !== actual)
    return warn(
      `Its indexes were built with version ${built} of collation ${collation}; the server has ${actual} now.`,
      `Run REINDEX DATABASE "${name}", then ALTER DATABASE "${name}" REFRESH COLLATION VERSION.`,
    );
  return ok(`Its encoding is UTF8, its collation ${collation}.`);
}

type ServerSetting = { name: string; bad: string; state: 'warn' | 'fail'; harm: string };

const harmful: readonly ServerSetting[] = [
  {
    name: 'fsync',
    bad: 'off',
    state: 'fail',
    harm: 'a power cut or a crash of the system can destroy all data',
  },
  { name: 'full_page_writes', bad: 'off', state: 'fail', harm: 'a power cut can tear pages for good' },
  {
    name: 'autovacuum',
    bad: 'off',
    state: 'fail',
    harm: 'tables swell until the server refuses to write',
  },
  { name: 'track_counts', bad: 'off', state: 'fail', harm: 'autovacuum sees nothing to do' },
  {
    name: 'synchronous_commit',
    bad: 'off',
    state: 'warn',
    harm: 'a crash forgets what was settled last, so pages may be fetched twice',
  },
  {
    name: 'default_transaction_read_only',
    bad: 'on',
    state: 'fail',
    harm: 'nothing can be written',
  },
];

/** Settings of the server that endanger the data or the engine. */
export async function checkServerSettings({ pool }: Database): Promise<CheckResult[]> {
  const { rows } = await pool.query<{ name: string; setting: string }>(
    'SELECT name, setting FROM pg_settings WHERE name = ANY($1)',
    [harmful.map((one) => one.name)],
  );
  const found = harmful.filter((one) => rows.some((row) => row.name === one.name && row.setting === one.bad));
  if (found.length === 0) return [ok('No setting of the server endangers the data.')];
  return found.map(({ name, bad, state, harm }) => ({
    state,
    sentence: `${name} is ${bad}: ${harm}.`,
    advice: `ALTER SYSTEM SET ${name} = ${bad === 'off' ? 'on' : 'off'}; SELECT pg_reload_conf();`,
  }));
}

/** Whether the server has connections for all our processes. */
export async function checkConnections(
  { pool, embedded }: Database,
  perProcess: number,
): Promise<CheckResult> {
  const { rows } = await pool.query<{ most: number; used: number; processes: number }>(
    `SELECT current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer AS most,
            (SELECT count(*)::integer FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,
            (SELECT count(*)::integer FROM workers WHERE heartbeat_at > now() - interval '30 seconds') AS processes`,
  );
  const { most, used, processes } = rows[0]!;
  const wanted = processes * perProcess;
  const facts = `${used} of ${most} connections are in use`;
  const advice = 'Raise max_connections of the server, lower database.connections, or put PgBouncer between.';
  if (used >= most * 0.9) return warn(`${facts}.`, advice);
  // Behind a pooler ours are the pooler's clients, and how many of the server's it uses is its own setting.
  if (wanted > most && (embedded || !(await isPoolPooled(pool))))
    return warn(`${facts}; ${processes} processes may open ${perProcess} each, ${wanted} in all.`, advice);
  return ok(`${facts}.`);
}

async function isPoolPooled(pool: Database['pool']): Promise<boolean> {
  const client = await pool.connect();
  try {
    return await isPooled(client);
  } finally {
    client.release();
  }
}

/** Whether a pooler is between, and what is then missing: nothing of ours needs a session, but limits live in one. */
export async function checkPooler({ pool, embedded, ...database }: Database): Promise<CheckResult> {
  const client = await pool.connect();
  try {
    if (embedded || !(await isPooled(client))) return ok('The server is reached without a pooler.');
    const { rows } = await client.query<{ role: string; lock: string; idle: string; isGiven: boolean }>(
      `SELECT quote_ident(current_user) AS role, current_setting('lock_timeout') AS lock,
              current_setting('idle_in_transaction_session_timeout') AS idle,
              (SELECT count(DISTINCT split_part(one, '=', 1)) = 2 FROM pg_db_role_setting s CROSS JOIN unnest(s.setconfig) AS one
                WHERE s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
                  AND s.setrole IN (0, (SELECT oid FROM pg_roles WHERE rolname = current_user))
                  AND one ~ '^(lock_timeout|idle_in_transaction_session_timeout)=' AND one !~ '=0[a-z]*$') AS "isGiven"`,
    );
    const { role, lock, idle, isGiven } = rows[0]!;
    const hears = database.directConnectionString !== database.connectionString;
    const facts = `There is a pooler before the server; new work is heard of ${hears ? 'past it' : 'within a second, by asking'}`;
    if (lock !== '0' && idle !== '0') return ok(`${facts}.`);
    // A role's settings are read when a connection is made, and a pooler keeps those it has for up to an hour.
    if (isGiven)
      return warn(
        `${facts}. The role has limits, and the pooler still uses connections that it made before.`,
        'They apply when it has made new ones: within its server_lifetime (an hour), or at once with RECONNECT on its console, or a restart of it.',
      );
    return warn(
      `${facts}. It lets no limits through, so a statement waits for a lock as long as it takes.`,
      `Give the limits to the role: ALTER ROLE ${role} SET lock_timeout = '3s'; ALTER ROLE ${role} SET idle_in_transaction_session_timeout = '10s';`,
    );
  } finally {
    client.release();
  }
}

/** Whether rows lie where no day's partition took them: they outlive their retention there. */
export async function checkPartitions({ pool }: Database): Promise<CheckResult> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c
      WHERE c.relispartition AND pg_get_expr(c.relpartbound, c.oid) = 'DEFAULT'
        AND c.relnamespace = to_regnamespace(current_schema()) ORDER BY 1`,
  );
  const filled: string[] = [];
  for (const { name } of rows) {
    const found = await pool.query<{ isFilled: boolean }>(
      `SELECT EXISTS (SELECT FROM ${name.replace(/[^a-z0-9_]/g, '')}) AS "isFilled"`,
    );
    if (found.rows[0]!.isFilled) filled.push(name);
  }
  if (filled.length === 0) return ok('Every row of the logs lies in the partition of its day.');
  return warn(
    `There are rows in ${filled.join(' and ')}: they came when nobody had made a partition for their day.`,
    'The schedule role makes partitions ahead: is one running? It moves the rows of the days it still makes.',
  );
}
