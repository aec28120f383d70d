import { useAction } from '../../api/use-action.ts';
import { confirm } from '../../parts/confirm.ts';
import { plural } from '../../parts/format.ts';

/** Makes the jobs that enabled sources lack, after a question; answers whether it was done. */
export function useSync() {
  const { act, isBusy } = useAction();
  async function sync(): Promise<boolean> {
    const answer = await confirm({
      title: 'Make the missing jobs?',
      text: 'Every enabled source whose links are followed gets a crawl job if it has none, and jobs of such sources that are paused go on. Nothing else changes.',
      label: 'Make the missing jobs',
    });
    if (answer === null) return false;
    const done = await act('syncEnabledSources', {}, ({ created, resumed, unchanged }) =>
      created + resumed === 0
        ? `Nothing was missing: ${plural(unchanged, 'source has its job', 'sources have their jobs')}.`
        : `${plural(created, 'job')} made, ${resumed} resumed, ${unchanged} as they were.`,
    );
    return done !== null;
  }
  return { sync, isBusy };
}
