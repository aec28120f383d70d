import { computed, shallowReactive } from 'vue';

const open = shallowReactive<HTMLElement[]>([]);

/** The dialog that lies over everything else; null: none is open. */
export const topDialog = computed(() => open.at(-1) ?? null);

/** Says that a dialog has opened; answers how to say that it is gone. */
export function noteDialog(dialog: HTMLElement): () => void {
  open.push(dialog);
  return () => {
    const index = open.indexOf(dialog);
    if (index >= 0) open.splice(index, 1);
  };
}
