import { ref } from 'vue';
import { actOnMany } from '../../api/act-on-many.ts';
import { confirm } from '../../parts/confirm.ts';
import { plural } from '../../parts/format.ts';

/** A source as far as it is named. */
export type Named = { slug: string; name: string };

const namesOf = (sources: readonly Named[]): string =>
  sources.length === 1 ? sources[0]!.name : plural(sources.length, 'source');

/** What can be done to one source or to many; each answers how many it was done to. */
export function useSourceActs() {
  const isBusy = ref(false);
  async function busy(act: () => Promise<number>): Promise<number> {
    isBusy.value = true;
    try {
      return await act();
    } finally {
      isBusy.value = false;
    }
  }
  return {
    isBusy,
    async enable(sources: readonly Named[]): Promise<number> {
      const inputs = sources.map(({ slug }) => ({ path: { slug }, body: null }));
      const done = (count: number): string =>
        count === 1
          ? `${namesOf(sources)} goes on where it stood.`
          : `${count} sources go on where they stood.`;
      return busy(() => actOnMany('enableSource', inputs, done));
    },
    async disable(sources: readonly Named[]): Promise<number> {
      const reason = await confirm({
        title: `Disable ${namesOf(sources)}?`,
        text: 'Nothing of it is polled or fetched until it is enabled again. What waits keeps its place, and its documents stay.',
        label: sources.length === 1 ? 'Disable' : `Disable ${namesOf(sources)}`,
        reason: { label: 'Why? This is kept with it.', isNeeded: true },
      });
      if (reason === null) return 0;
      const inputs = sources.map(({ slug }) => ({ path: { slug }, body: { reason } }));
      return busy(() =>
        actOnMany('disableSource', inputs, (count) =>
          count === 1 ? `${namesOf(sources)} is disabled.` : `${count} sources are disabled.`,
        ),
      );
    },
    async remove(sources: readonly Named[], documents: 'keep' | 'delete'): Promise<number> {
      const inputs = sources.map(({ slug }) => ({ path: { slug }, query: { documents } }));
      const what = documents === 'keep' ? 'its documents stay' : 'its documents are gone too';
      return busy(() =>
        actOnMany('deleteSource', inputs, (count) =>
          count === 1 ? `${namesOf(sources)} is deleted; ${what}.` : `${count} sources are deleted.`,
        ),
      );
    },
  };
}
