/** A stretch of time as a person says it. */
export function span(ms: number): string {
  const s = Math.round(Math.abs(ms) / 1000);
  if (s < 90) return `${s} s`;
  if (s < 5400) return `${Math.round(s / 60)} min`;
  return s < 129_600 ? `${Math.round(s / 3600)} h` : `${Math.round(s / 86_400)} days`;
}

/** How long ago. */
export const ago = (date: Date | null, now: Date): string =>
  date === null ? 'never' : `${span(now.getTime() - date.getTime())} ago`;

/** How long from now. */
export const until = (date: Date | null, now: Date): string =>
  date === null ? 'never' : date <= now ? 'now' : `in ${span(date.getTime() - now.getTime())}`;

const heldMs = 500 * 31_557_600_000;

/** Whether a due time says that a row is held: those lie a thousand years ahead. */
export const isHeld = (dueAt: Date | null, now: Date): boolean =>
  dueAt !== null && dueAt.getTime() - now.getTime() > heldMs;

/** A delay in seconds, or in milliseconds where seconds would round it away: 5 ms are no "0.0 s". */
export const seconds = (ms: number): string =>
  ms > 0 && ms < 1000
    ? `${Math.round(ms)} ms`
    : ms % 1000 === 0
      ? `${ms / 1000} s`
      : `${(ms / 1000).toFixed(1)} s`;

/** A count with its noun. */
export const many = (count: number, one: string, more = `${one}s`): string =>
  `${count} ${count === 1 ? one : more}`;

/** What each reason of a wait stands for. */
export const holdTexts: Readonly<Record<string, string>> = {
  politeness: 'the gap between two requests',
  retry_after: 'the server asked us to wait',
  circuit: 'it refused us repeatedly',
  cooldown: 'the domain rests',
  robots: 'robots.txt forbids everything or could not be read',
  operator: 'an operator holds it',
};

/** Why a domain's next request waits. */
export const holdText = (hold: string | null): string =>
  holdTexts[hold ?? 'politeness'] ?? 'the gap between two requests';

/** What each reason of a rest stands for. */
export const reasonTexts: Readonly<Record<string, string>> = {
  login_required: 'it asks for a login',
  rate_limited: 'it answered 429 again and again',
  forbidden: 'it refuses us (403)',
  challenge: 'it answers with challenges',
  server_error: 'it answered with server errors again and again',
  robots_denied: 'its robots.txt forbids everything',
  dns: 'its name cannot be resolved',
  connect: 'nothing answers at its address',
  tls: 'no secure connection can be made',
};

/** Why a domain rests; what an operator wrote is shown as it is. */
export const reasonText = (reason: string | null): string =>
  reason === null ? 'no reason was given' : (reasonTexts[reason] ?? reason);

/** What every fetcher says of an outage, which no commands end. */
export const outageText =
  'Our own network seems to be down: fetching pauses, is tried every 30 s and blames nobody.';

/** What a switch that is off holds up, of those that matter for a row or a domain. */
export const switchTexts = {
  fetching: 'Fetching is switched off for everything: "outrider switch fetching on".',
  polling: 'Polling is switched off: "outrider switch polling on".',
  refresh: 'Refreshes are switched off: "outrider switch refresh on".',
  rendering: 'Rendering is switched off: "outrider switch rendering on".',
  spider: 'Links are not followed: "outrider switch spider on".',
  pagination: 'Listings are not read page by page: "outrider switch pagination on".',
} as const;
