import { useAction } from '../api/use-action.ts';
import { confirm } from '../parts/confirm.ts';

/** Resets a domain after asking why; answers whether it was done. */
export function useDomainReset() {
  const { act, isBusy } = useAction();
  return {
    isBusy,
    reset: async (name: string): Promise<boolean> => {
      const reason = await confirm({
        title: `Reset ${name}?`,
        text: 'A block, a rest or an open circuit ends, and it is asked at its usual pace again. If it still refuses us, that comes back by itself.',
        label: 'Reset the domain',
        reason: { label: 'Why? It is kept with the domain.', isNeeded: true },
      });
      if (reason === null) return false;
      const done = await act('resetDomain', { path: { name }, body: { reason } }, `${name} is asked again.`);
      return done !== null;
    },
  };
}
