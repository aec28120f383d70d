import { computed, effectScope } from 'vue';
import { live } from './live.ts';
import { session } from './session.ts';
import { useAnswer } from './use-answer.ts';

const everyMs = 2000;
// What only time changes, as "next fetch in 4 min", comes with no event.
const quietMs = 10_000;

/** How everything does. The frame and the overview share it, so it is asked once for both. */
export const overview = effectScope(true).run(() =>
  useAnswer('getOverview', () => (session.state === 'in' ? {} : null), { everyMs }),
)!;

setInterval(() => {
  if (live.state === 'live' && session.state === 'in' && !document.hidden) void overview.refresh();
}, quietMs);

/** Whether what is shown may be older than it looks. */
export const isAway = computed(() => live.state === 'away' || overview.problem.value !== null);

/** The states of everything, in a word or two. */
export const stateWords = { ok: 'All well', warn: 'Needs a look', fail: 'Trouble' } as const;
