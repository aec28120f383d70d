import { ref } from 'vue';
import { ask, type Input } from '../../api/client.ts';
import { problemOf } from '../../api/problem.ts';
import { confirm, type Question } from '../../parts/confirm.ts';
import { countText, plural, totalText } from '../../parts/format.ts';
import { say } from '../../parts/toasts.ts';
import type { UrlFilter } from './use-url-filter.ts';
import { outcomeText } from './words.ts';

/** What is done to many URLs at once. */
export type BulkAct = { action: 'retry' | 'remove' } | { action: 'set_priority'; priority: number };
/** To which: those that were chosen, or all that match, as far as their number is known. */
export type BulkTarget =
  | { ids: string[] }
  | { filter: UrlFilter; total: { count: number; exact: boolean } | null };

// Small enough that the count moves and Stop is heard within a second.
const portion = 500;

function questionOf(act: BulkAct, target: BulkTarget): Question {
  const many =
    'ids' in target
      ? plural(target.ids.length, 'URL')
      : target.total === null
        ? 'all URLs that match'
        : `all ${totalText(target.total)} URLs that match`;
  switch (act.action) {
    case 'retry':
      return {
        title: `Retry ${many}?`,
        text: 'Each is fetched again as soon as its domain may be asked. What was given up or removed gets a new chance.',
        label: 'Retry',
      };
    case 'remove':
      return {
        title: `Remove ${many}?`,
        text: 'They stay known, are never fetched, and no feed or spider brings them back. A retry does.',
        label: 'Remove',
        isDanger: true,
      };
    case 'set_priority':
      return {
        title: `Give ${many} priority ${act.priority}?`,
        text: 'Of the URLs of a domain that wait, those with the higher priority go first.',
        label: 'Set priority',
      };
  }
}

/** Acts on many URLs, a portion at a time, after a question; says how far it is and what it came to. */
export function useBulk(done: () => void) {
  const progress = ref<{ done: number; most: number } | null>(null);
  let isStopped = false;

  async function run(act: BulkAct, target: BulkTarget): Promise<boolean> {
    if (progress.value !== null || (await confirm(questionOf(act, target))) === null) return false;
    const outcomes: Record<string, number> = {};
    isStopped = false;
    progress.value = {
      done: 0,
      most: 'ids' in target ? target.ids.length : target.total?.exact ? target.total.count : 0,
    };
    try {
      let cursor: string | null = null;
      do {
        const body: Input<'actOnUrls'>['body'] = {
          ...act,
          ...('ids' in target ? { ids: target.ids } : { filter: target.filter, limit: portion }),
          ...(cursor === null ? {} : { cursor }),
        };
        const answer = await ask('actOnUrls', { body });
        for (const [name, count] of Object.entries(answer.outcomes))
          outcomes[name] = (outcomes[name] ?? 0) + count;
        progress.value = { ...progress.value, done: progress.value.done + answer.matched };
        cursor = answer.cursor;
      } while (cursor !== null && !isStopped);
      say(`${isStopped && cursor !== null ? 'Stopped. ' : ''}${outcomeText(outcomes)}`);
    } catch (error) {
      const { message, advice } = problemOf(error);
      const before = progress.value.done > 0 ? `After ${countText(progress.value.done)} URLs: ` : '';
      say(`${before}${message} ${advice ?? ''}`.trim(), 'fail');
    } finally {
      progress.value = null;
      done();
    }
    return true;
  }
  const stop = (): void => {
    isStopped = true;
  };
  return { run, stop, progress };
}
