import { ref, watch } from 'vue';
import { useRoute } from 'vue-router';

/** Rows of a list that are selected, or all that match its filter. Another page or filter begins anew. */
export function useSelection() {
  const route = useRoute();
  const selected = ref<ReadonlySet<string | number>>(new Set());
  const isAllMatching = ref(false);
  const clear = (): void => {
    selected.value = new Set();
    isAllMatching.value = false;
  };
  watch(() => JSON.stringify(route.query), clear);
  return { selected, isAllMatching, clear };
}

/** The row of a table that the keyboard is at. */
export function rowInFocus<T>(items: readonly T[]): T | null {
  const row = document.activeElement?.closest<HTMLElement>('tr[data-row]');
  return items[Number(row?.dataset.row ?? Number.NaN)] ?? null;
}
