import { computed, onScopeDispose, watch } from 'vue';
import { useAnswer } from '../../api/use-answer.ts';
import { isOpen } from './search-words.ts';

const lookMs = 700;

/** A source whose search for feeds is watched while it goes on: events tell of it too seldom. */
export function useSearch(slug: () => string) {
  const asked = useAnswer('getSource', () => (slug() === '' ? null : { path: { slug: slug() } }), {
    everyMs: 2000,
  });
  const workers = useAnswer('listWorkers', () => ({}), { everyMs: 5000 });
  const search = computed(() => asked.data.value?.discovery ?? null);
  const isSearching = computed(() => isOpen(search.value));
  const isRunning = computed(() => {
    const roles = new Set(workers.data.value?.items.filter((one) => one.isAlive).map((one) => one.role));
    return roles.has('run') || (roles.has('fetch') && roles.has('schedule'));
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const again = (): void => {
    clearTimeout(timer);
    if (isSearching.value && !document.hidden) timer = setTimeout(() => void asked.refresh(), lookMs);
  };
  watch(asked.data, again);
  document.addEventListener('visibilitychange', again);
  onScopeDispose(() => {
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', again);
  });
  return { ...asked, search, isSearching, isRunning };
}
