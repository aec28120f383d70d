/** What a caller may do; each role may do all that the ones before it may. */
export const roles = ['read', 'write', 'admin'] as const;
export type Role = (typeof roles)[number];

/** Who asks, as events and the audit name them. */
export type Identity = { name: string; role: Role };

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks; set before a route runs. */
    identity: Identity;
  }
  interface FastifyContextConfig {
    /** What a caller needs; without it GET needs read and everything else write. */
    role?: Role | 'public';
  }
}
