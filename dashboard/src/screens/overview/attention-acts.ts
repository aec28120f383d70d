import type { Answer } from '../../api/client.ts';
import { may } from '../../api/session.ts';
import { useAction } from '../../api/use-action.ts';
import { confirm } from '../../parts/confirm.ts';
import { plural, totalText } from '../../parts/format.ts';
import { say } from '../../parts/toasts.ts';

/** Something that needs somebody. */
export type Attention = Answer<'getOverview'>['attention'][number];
type Action = NonNullable<Attention['action']>;
type Switch = Answer<'setSwitch'>['name'];

const roleOf: Readonly<Partial<Record<Action['kind'], 'write' | 'admin'>>> = {
  poll_channel: 'write',
  retry_channels: 'write',
  reset_domain: 'write',
  retry_dead_letters: 'write',
  resume_sink: 'write',
  switch_on: 'admin',
};

/** Whether it is done here and now; what this user may not do is only shown, as what takes a screen to do. */
export function isDoneHere({ kind, target }: Action): boolean {
  const role = roleOf[kind];
  return role !== undefined && may(role) && (target.id !== null || kind === 'retry_channels');
}

/** Does what stands beside a trouble, after a question where it changes much. */
export function useAttentionActs() {
  const { act, isBusy } = useAction();

  async function resetDomain(name: string): Promise<unknown> {
    const reason = await confirm({
      title: `Reset ${name}?`,
      text: 'It is asked again as if nothing had happened: its rest ends, and what waits there is fetched.',
      label: 'Reset it',
      reason: { label: 'Why? This is kept with the domain.', isNeeded: true },
    });
    return reason === null
      ? null
      : act('resetDomain', { path: { name }, body: { reason } }, `${name} is asked again.`);
  }

  async function retryChannels(): Promise<unknown> {
    const body = { action: 'poll', filter: { state: 'failing' } } as const;
    const before = await act('actOnChannels', { body: { ...body, dryRun: true } });
    if (before === null) return null;
    const answer = await confirm({
      title: 'Try all of them again?',
      text: `All ${totalText(before.total)} channels that fail are polled as soon as their domains may be asked.`,
      label: 'Try them again',
    });
    if (answer === null) return null;
    let polled = 0;
    let cursor: string | null = null;
    do {
      const done: Answer<'actOnChannels'> | null = await act('actOnChannels', {
        body: { ...body, ...(cursor === null ? {} : { cursor }) },
      });
      // What was said of the failure has been said; what was done stays done.
      if (done === null) return polled;
      polled += done.outcomes.polled ?? 0;
      cursor = done.cursor;
    } while (cursor !== null);
    say(`${plural(polled, 'channel is', 'channels are')} tried again.`);
    return polled;
  }

  async function retryLetters(id: string): Promise<unknown> {
    const answer = await confirm({
      title: 'Try them again?',
      text: `Everything that the sink ${id} has refused for good is delivered once more.`,
      label: 'Try them again',
    });
    return answer === null
      ? null
      : act(
          'retryDeadLetters',
          { path: { id } },
          ({ retried }) => `${plural(retried, 'delivery is', 'deliveries are')} tried again.`,
        );
  }

  async function switchOn(name: string): Promise<unknown> {
    const words = name.replaceAll('_', ' ');
    const answer = await confirm({
      title: `Switch ${words} on?`,
      text: 'Every process follows within seconds.',
      label: 'Switch it on',
    });
    return answer === null
      ? null
      : act(
          'setSwitch',
          { path: { name: name as Switch }, body: { on: true } },
          `The switch ${words} is on again.`,
        );
  }

  async function run({ kind, target: { id } }: Action): Promise<unknown> {
    if (kind === 'retry_channels') return retryChannels();
    if (id === null) return null;
    if (kind === 'poll_channel')
      return act(
        'pollChannel',
        { path: { id: Number(id) } },
        'It is polled as soon as its domain may be asked.',
      );
    if (kind === 'resume_sink') return act('resumeSink', { path: { id } }, `The sink ${id} goes on.`);
    if (kind === 'reset_domain') return resetDomain(id);
    if (kind === 'retry_dead_letters') return retryLetters(id);
    return kind === 'switch_on' ? switchOn(id) : null;
  }
  return { run, isBusy };
}
