import { createToken, type Role } from '../../src/auth/index.ts';
import type { Queryable } from '../../src/db/index.ts';

/** A token of a role, for tests that call the API. */
export async function makeToken(db: Queryable, role: Role, name: string = `test ${role}`): Promise<string> {
  const made = await createToken(db, { name, role, actor: 'test' });
  if (made.outcome !== 'created') throw new Error(`there is a token "${name}" already`);
  return made.token;
}
