/** A storm that once found something; run again by `npm run torture -- --found`. */
export type FoundStorm = { seed: number; seconds: number; found: string };

export const foundStorms: readonly FoundStorm[] = [
  {
    seed: 3,
    seconds: 90,
    found:
      'a role that met a restart of PostgreSQL while it began ended with 1 and a stack, as if it were broken',
  },
  {
    seed: 2,
    seconds: 60,
    found: 'a fetcher whose connections were half open hung for as long as it lived',
  },
  {
    seed: 3,
    seconds: 20,
    found: 'a fetcher whose listening connection was half open waited for a goodbye when it was told to stop',
  },
  {
    seed: 101,
    seconds: 45,
    found: 'a fetcher that was told to stop while it still loaded ended by the signal',
  },
  {
    seed: 202,
    seconds: 130,
    found: 'a scheduler whose clock was an hour off signed deliveries with it, and the receiver refused them',
  },
  {
    seed: 303,
    seconds: 135,
    found: 'a signal that came while a fetcher loaded was lost when another listener took over',
  },
];
