import { onScopeDispose, ref, shallowRef, watch } from 'vue';
import { ask, type Item } from '../api/client.ts';
import { problemOf } from '../api/problem.ts';

/** Something that a typed text may mean. */
export type Found = Item<'find'>;

const pauseMs = 150;

/** What a text may mean, looked up while it is typed. */
export function useFind() {
  const text = ref('');
  const items = shallowRef<readonly Found[]>([]);
  const failure = ref('');
  let timer: ReturnType<typeof setTimeout> | undefined;
  let current: AbortController | null = null;
  let answered = '';

  async function look(): Promise<void> {
    clearTimeout(timer);
    current?.abort();
    const q = text.value.trim();
    const mine = new AbortController();
    current = mine;
    try {
      const found = q === '' ? [] : (await ask('find', { query: { q } }, { signal: mine.signal })).items;
      if (current !== mine) return;
      items.value = found;
      failure.value = '';
      answered = q;
    } catch (error) {
      if (current === mine && !mine.signal.aborted) {
        items.value = [];
        failure.value = problemOf(error).message;
      }
    }
  }

  watch(text, () => {
    clearTimeout(timer);
    timer = setTimeout(look, pauseMs);
  });
  onScopeDispose(() => {
    clearTimeout(timer);
    current?.abort();
    current = null;
  });
  return {
    text,
    items,
    failure,
    /** The first that the text as it stands may mean; whoever types and presses Enter at once does not get an older one. */
    first: async (): Promise<Found | undefined> => {
      if (answered !== text.value.trim()) await look();
      return answered === text.value.trim() ? items.value[0] : undefined;
    },
    clear: (): void => {
      text.value = '';
      items.value = [];
      failure.value = '';
    },
  };
}
