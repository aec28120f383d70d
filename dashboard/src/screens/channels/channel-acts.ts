import { ref } from 'vue';
import { type FailingFilter, retryFailing } from '../../acts/retry-failing.ts';
import { actOnMany, loadMatching, mostMatching } from '../../api/act-on-many.ts';
import { ask } from '../../api/client.ts';
import { problemOf } from '../../api/problem.ts';
import { confirm } from '../../parts/confirm.ts';
import { countText, plural, wordsOf } from '../../parts/format.ts';
import { say } from '../../parts/toasts.ts';

/** What can be done to channels. */
export type ChannelAct = 'pollChannel' | 'resetChannel' | 'enableChannel' | 'disableChannel';
type Filter = Readonly<Record<string, string | number | boolean | undefined>>;

const doneTexts: Readonly<Record<ChannelAct, (channels: string) => string>> = {
  pollChannel: (channels) => `${channels} polled as soon as the domain may be asked.`,
  resetChannel: (channels) => `${channels} without errors again, and polled at once.`,
  enableChannel: (channels) => `${channels} polled again.`,
  disableChannel: (channels) => `${channels} not polled until enabled.`,
};

const actions = {
  pollChannel: 'poll',
  resetChannel: 'reset',
  enableChannel: 'enable',
  disableChannel: 'disable',
} as const;

async function actOnNamed(name: ChannelAct, ids: number[]) {
  const { outcomes } = await ask('actOnChannels', { body: { action: actions[name], ids } });
  const refused = Object.entries(outcomes).flatMap(([outcome, count]) =>
    outcome.startsWith('refused:')
      ? Array.from({ length: count }, () => ({ detail: wordsOf(outcome.slice('refused:'.length)) }))
      : [],
  );
  return { done: ids.length - refused.length, refused, left: [] };
}

/** Acts on many channels, a portion at a time; `after` is called when something was changed. */
export function useChannelActs(after: () => Promise<unknown>) {
  const isBusy = ref(false);

  async function attempt(work: () => Promise<number>): Promise<void> {
    if (isBusy.value) return;
    isBusy.value = true;
    try {
      if ((await work()) > 0) await after();
    } catch (error) {
      say(problemOf(error).message, 'fail');
    } finally {
      isBusy.value = false;
    }
  }

  const doTo = (name: ChannelAct, ids: readonly (string | number)[]): Promise<number> => {
    const done = (count: number): string => doneTexts[name](plural(count, 'channel is', 'channels are'));
    return actOnMany(ids.map(Number), (some) => actOnNamed(name, some), done);
  };

  /** Asks with the exact number first: nobody has seen all of them. */
  async function doToMatching(name: ChannelAct, title: string, filter: Filter): Promise<number> {
    const { items, more } = await loadMatching('listChannels', filter, ({ id }) => id);
    if (items.length === 0) say('No channel matches any more.');
    if (items.length === 0) return 0;
    const count = plural(items.length, 'channel');
    const first = more ? ` There are more: these are the first ${countText(mostMatching)}.` : '';
    const answer = await confirm({
      title,
      text: `This is done to ${count}.${first}`,
      label: `${title}: ${count}`,
    });
    return answer === null ? 0 : doTo(name, items);
  }

  return {
    isBusy,
    act: (name: ChannelAct, ids: readonly (string | number)[]) => attempt(() => doTo(name, ids)),
    /** What fails is retried in one go, however many there are; the rest one by one. */
    actOnMatching: (name: ChannelAct, title: string, filter: Filter) =>
      attempt(() => {
        const { failing, source, kind, files } = filter;
        if (failing !== true || (name !== 'pollChannel' && name !== 'resetChannel'))
          return doToMatching(name, title, filter);
        const named = { state: 'failing', source, kind, files } as FailingFilter;
        return retryFailing(name === 'pollChannel' ? 'poll' : 'reset', named);
      }),
  };
}
