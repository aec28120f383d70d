import { useAction } from '../api/use-action.ts';
import { confirm } from '../parts/confirm.ts';
import { plural } from '../parts/format.ts';

type Named = { name: string };

/** What can be done with a sink; each asks first where it matters, and answers whether it was done. */
export function useSinkActs() {
  const { act, isBusy } = useAction();
  return {
    isBusy,
    retry: async ({ name, deadLetters }: Named & { deadLetters?: number }): Promise<boolean> => {
      const letters = deadLetters === undefined ? 'dead letters' : plural(deadLetters, 'dead letter');
      const answer = await confirm({
        title: `Try ${letters} again?`,
        text: `${name} refused them. If the reason is still there, they come back as dead letters.`,
        label: `Try ${letters} again`,
      });
      if (answer === null) return false;
      const done = await act(
        'retryDeadLetters',
        { path: { id: name } },
        ({ retried }) => `${plural(retried, 'delivery is', 'deliveries are')} on the way to ${name} again.`,
      );
      return done !== null;
    },
    pause: async ({ name }: Named): Promise<boolean> => {
      const answer = await confirm({
        title: `Pause ${name}?`,
        text: 'Nothing is delivered to it, and what comes meanwhile is not kept for it. A replay brings that later, from what is stored.',
        label: 'Pause the sink',
      });
      if (answer === null) return false;
      return (await act('pauseSink', { path: { id: name } }, `${name} is paused.`)) !== null;
    },
    resume: async ({ name }: Named): Promise<boolean> =>
      (await act(
        'resumeSink',
        { path: { id: name } },
        `${name} goes on. A replay brings what it missed.`,
      )) !== null,
    forget: async ({
      name,
      waiting,
      deadLetters,
    }: Named & { waiting: number; deadLetters: number }): Promise<boolean> => {
      const answer = await confirm({
        title: `Forget ${name}?`,
        text: `What waits for it (${waiting}) and what it refused (${deadLetters}) is dropped; documents stay. Do this when its settings are gone: while they are there, it is made anew with the next start.`,
        label: 'Forget the sink',
        isDanger: true,
      });
      if (answer === null) return false;
      return (await act('removeSink', { path: { id: name } }, `${name} is forgotten.`)) !== null;
    },
  };
}
