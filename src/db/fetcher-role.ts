import pg from 'pg';
import { AppError, EXIT } from '../errors/index.ts';
import type { Database } from './queryable.ts';

/**
 * Makes a role that can do a fetcher's work and see no secret, or brings one up to date; answers whether it is new.
 * Later versions keep its rights in step when they make their functions.
 */
export async function grantFetcher(database: Database, role: string, actor: string): Promise<boolean> {
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
    if (found.rowCount === 0) await tx.query(`CREATE ROLE ${pg.escapeIdentifier(role)} LOGIN`);
    await tx.query('SELECT fetcher_add($1, $2)', [role, actor]);
    return found.rowCount === 0;
  });
}
