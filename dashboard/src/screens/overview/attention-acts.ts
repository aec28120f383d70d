import { computed } from 'vue';
import type { RouteLocationRaw } from 'vue-router';
import { useDomainReset } from '../../acts/reset-domain.ts';
import { retryFailing } from '../../acts/retry-failing.ts';
import { useSinkActs } from '../../acts/sink-acts.ts';
import type { Answer } from '../../api/client.ts';
import { may } from '../../api/session.ts';
import { useAction } from '../../api/use-action.ts';
import { placeOf } from '../../frame/targets.ts';
import { confirm } from '../../parts/confirm.ts';

/** Something that needs somebody. */
export type Attention = Answer<'getOverview'>['attention'][number];
type Action = NonNullable<Attention['action']>;
type Switch = Answer<'setSwitch'>['name'];

const roleOf: Readonly<Partial<Record<Action['kind'], 'write' | 'admin'>>> = {
  poll_channel: 'write',
  retry_channels: 'write',
  reset_domain: 'write',
  retry_job: 'write',
  retry_dead_letters: 'write',
  resume_sink: 'write',
  switch_on: 'admin',
};

/** Whether it is done here and now; what this user may not do is only shown, as what takes a screen to do. */
export function isDoneHere({ kind, target }: Action): boolean {
  const role = roleOf[kind];
  return role !== undefined && may(role) && (target.id !== null || kind === 'retry_channels');
}

/** Where an action that is not done here leads: jobs are moved only after their moves were seen. */
export const placeOfAction = ({ kind, target }: Action): RouteLocationRaw =>
  placeOf(kind === 'rebalance_jobs' ? { ...target, filter: { ...target.filter, tab: 'slots' } } : target);

/** Does what stands beside a trouble, after a question where it changes much. */
export function useAttentionActs() {
  const { act, isBusy: isActing } = useAction();
  const sinks = useSinkActs();
  const domains = useDomainReset();

  const poll = async (id: number): Promise<boolean> =>
    (await act('pollChannel', { path: { id } }, 'It is polled as soon as its domain may be asked.')) !== null;

  const retry = async (id: number): Promise<boolean> =>
    (await act('retryJob', { path: { id }, body: null }, `Job ${id} runs again.`)) !== null;

  async function switchOn(name: string): Promise<boolean> {
    const words = name.replaceAll('_', ' ');
    const answer = await confirm({
      title: `Switch ${words} on?`,
      text: 'Every process follows within seconds.',
      label: 'Switch it on',
    });
    if (answer === null) return false;
    const input = { path: { name: name as Switch }, body: { on: true } };
    return (await act('setSwitch', input, `The switch ${words} is on again.`)) !== null;
  }

  async function run({ kind, target: { id } }: Action): Promise<boolean> {
    if (kind === 'retry_channels') return (await retryFailing('poll', { state: 'failing' })) > 0;
    if (id === null) return false;
    switch (kind) {
      case 'poll_channel':
        return poll(Number(id));
      case 'retry_job':
        return retry(Number(id));
      case 'resume_sink':
        return sinks.resume({ name: id });
      case 'retry_dead_letters':
        return sinks.retry({ name: id });
      case 'reset_domain':
        return domains.reset(id);
      case 'switch_on':
        return switchOn(id);
      default:
        return false;
    }
  }
  const isBusy = computed(() => isActing.value || sinks.isBusy.value || domains.isBusy.value);
  return { run, isBusy };
}
