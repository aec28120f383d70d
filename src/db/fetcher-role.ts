import pg from 'pg';
import { AppError, EXIT } from '../errors/index.ts';
import { forbidden, isForbidden } from './connection-errors.ts';
import type { Database, Queryable } from './queryable.ts';

/**
 * Makes a role that can do a fetcher's work and see no secret, or brings one up to date; answers whether it is new.
 * Later versions keep its rights in step when they make their functions.
 */
export async function grantFetcher(database: Database, role: string, actor: string): Promise<boolean> {
  checkName(role);
  return database.withTransaction(async (tx) => {
    const found = await tx.query<{ mighty: boolean }>(
      `SELECT rolsuper OR rolname = current_user OR pg_has_role(rolname, current_user, 'MEMBER') AS mighty
         FROM pg_roles WHERE rolname = $1`,
      [role],
    );
    // Taking rights away from the owner would stop everything, and from a superuser it does nothing.
    if (found.rows[0]?.mighty === true)
      throw new AppError('fetcher_role_invalid', `The role ${role} may do more than a fetcher in any case.`, {
        exitCode: EXIT.usage,
        advice: 'Name a role of its own, neither the one that owns the tables nor a member of it.',
      });
    if (found.rowCount === 0) await createRole(tx, role);
    await tx.query('SELECT fetcher_add($1, $2)', [role, actor]);
    return found.rowCount === 0;
  });
}

/** Throws where the role of the database may only fetch: a scheduler's loops would fail one by one, for ever. */
export async function refuseFetcherRole({ pool }: Database): Promise<void> {
  const { rows } = await pool.query<{ mayWrite: boolean }>(
    `SELECT has_table_privilege('settings', 'UPDATE') AS "mayWrite"`,
  );
  if (rows[0]?.mayWrite === true) return;
  const { sentence, advice } = forbidden(new Error('it may not change table settings'));
  throw new AppError('db_rights', sentence, { exitCode: EXIT.database, advice });
}

// PostgreSQL cuts a longer name off and goes on with what is left, which later versions would then not find again.
const longestName = 63;

function checkName(role: string): void {
  const isReserved = role === 'public' || role === 'none' || role.startsWith('pg_');
  if (role !== '' && !role.includes('\0') && !isReserved && Buffer.byteLength(role) <= longestName) return;
  throw new AppError('fetcher_role_invalid', `PostgreSQL takes no role "${role}".`, {
    exitCode: EXIT.usage,
    advice: `A name has 1 to ${longestName} bytes, does not begin with pg_ and is not public or none.`,
  });
}

// The owner of the tables need not be one who makes roles; with the role there, its rights are the owner's to give.
async function createRole(tx: Queryable, role: string): Promise<void> {
  const statement = `CREATE ROLE ${pg.escapeIdentifier(role)} LOGIN`;
  try {
    await tx.query(statement);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    throw new AppError('fetcher_role_rights', `This role of the database may not make the role ${role}.`, {
      exitCode: EXIT.failed,
      advice: `Let an administrator run: ${statement} PASSWORD '…'; then run this command again.`,
      cause: error,
    });
  }
}
