import { ref } from 'vue';
import { actOnMany, mostMatching } from '../../api/act-on-many.ts';
import { ask, type Input } from '../../api/client.ts';
import { confirm } from '../../parts/confirm.ts';
import { countText, plural } from '../../parts/format.ts';

/** A source as far as it is named. */
export type Named = { slug: string; name: string };

const namesOf = (sources: readonly Named[]): string =>
  sources.length === 1 ? sources[0]!.name : plural(sources.length, 'source');

/** What a question adds where more match than are changed in one go: nobody should take the first for all. */
export const firstText = (more: boolean): string =>
  more ? ` There are more: these are the first ${countText(mostMatching)}.` : '';

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
  const doTo = (
    body: Omit<Input<'actOnSources'>['body'], 'slugs'>,
    sources: readonly Named[],
    done: (count: number) => string,
  ): Promise<number> =>
    busy(() =>
      actOnMany(
        sources.map(({ slug }) => slug),
        (slugs) => ask('actOnSources', { body: { ...body, slugs } }),
        done,
      ),
    );
  return {
    isBusy,
    async enable(sources: readonly Named[]): Promise<number> {
      const done = (count: number): string =>
        sources.length === 1
          ? `${namesOf(sources)} goes on where it stood.`
          : `${plural(count, 'source goes', 'sources go')} on.`;
      return doTo({ action: 'enable' }, sources, done);
    },
    async disable(sources: readonly Named[], more = false): Promise<number> {
      const reason = await confirm({
        title: `Disable ${namesOf(sources)}?`,
        text: `Nothing of it is polled or fetched until it is enabled again. What waits keeps its place, and its documents stay.${firstText(more)}`,
        label: sources.length === 1 ? 'Disable' : `Disable ${namesOf(sources)}`,
        reason: { label: 'Why? This is kept with it.', isNeeded: true },
      });
      if (reason === null) return 0;
      return doTo({ action: 'disable', reason }, sources, (count) =>
        sources.length === 1
          ? `${namesOf(sources)} is disabled.`
          : `${plural(count, 'source is', 'sources are')} disabled.`,
      );
    },
    async remove(sources: readonly Named[], documents: 'keep' | 'delete'): Promise<number> {
      const what = documents === 'keep' ? 'its documents stay' : 'its documents are gone too';
      return doTo({ action: 'delete', documents }, sources, (count) =>
        sources.length === 1
          ? `${namesOf(sources)} is deleted; ${what}.`
          : `${plural(count, 'source is', 'sources are')} deleted.`,
      );
    },
  };
}
