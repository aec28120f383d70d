/** Where a domain stands. */
export const domainStatuses = ['pending', 'active', 'exhausted', 'blocked', 'unreachable'] as const;
export type DomainStatus = (typeof domainStatuses)[number];

/** Why access was refused; each has its own cooldown. */
export const blockReasons = [
  'login_required',
  'rate_limited',
  'forbidden',
  'challenge',
  'server_error',
  'robots_denied',
] as const;
export type BlockReason = (typeof blockReasons)[number];

// The same table stands in migrations/functions/domains.sql, where it guards the update; a test compares the two.
const engineMoves: Record<DomainStatus, readonly DomainStatus[]> = {
  pending: ['active', 'blocked', 'unreachable'],
  active: ['exhausted', 'blocked', 'unreachable'],
  exhausted: ['active', 'blocked', 'unreachable'],
  blocked: ['active'],
  unreachable: ['active'],
};
const operatorMoves: readonly DomainStatus[] = ['pending', 'active', 'blocked'];

/** Whether a move is legal; an operator may block or reset from any state. */
export function mayMove(from: DomainStatus, to: DomainStatus, by: 'engine' | 'operator'): boolean {
  return (by === 'operator' ? operatorMoves : engineMoves[from]).includes(to);
}
