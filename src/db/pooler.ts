import type pg from 'pg';

/**
 * Whether a connection leads through a pooler, as PgBouncer. One that shares server connections gives its clients made-up
 * process ids for cancelling, so what was told at the start is not the process that answers. A pooler says nothing else
 * of itself, and in session mode it is no trouble to be taken for one that gives out a session per transaction.
 */
export async function isPooled(client: pg.ClientBase): Promise<boolean> {
  const told = (client as unknown as { processID: number | null }).processID;
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return told !== rows[0]!.pid;
}
