/** What a caller may do; each role may do all that the ones before it may. */
export const roles = ['read', 'write', 'admin'] as const;
export type Role = (typeof roles)[number];

/** Who asks, as events and the audit name them. */
export type Identity = { name: string; role: Role };

/** Whether a role may do what another is needed for. */
export const permits = (held: Role, needed: Role): boolean => roles.indexOf(held) >= roles.indexOf(needed);

/** The highest role among words, null when none is one. */
export function highestRole(words: readonly string[]): Role | null {
  return roles.findLast((role) => words.includes(role)) ?? null;
}
