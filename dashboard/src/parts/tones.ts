/** How good a state is. */
export type Tone = 'ok' | 'warn' | 'fail' | 'info' | 'quiet';

/** The states of URLs, domains, sources and diagnoses, by how good they are. */
const toneByState: Readonly<Record<string, Tone>> = {
  // URLs
  pending: 'info',
  fetched: 'ok',
  redirected: 'quiet',
  duplicate: 'quiet',
  failed: 'warn',
  needs_render: 'warn',
  dead: 'fail',
  removed: 'quiet',
  // domains
  active: 'ok',
  exhausted: 'quiet',
  blocked: 'fail',
  unreachable: 'warn',
  // diagnoses
  ok: 'ok',
  warn: 'warn',
  fail: 'fail',
  // sources
  healthy: 'ok',
  failing: 'fail',
  disabled: 'quiet',
  searching: 'info',
};

/** How good a state is, as far as it is known. */
export const toneOf = (state: string): Tone => toneByState[state] ?? 'quiet';
