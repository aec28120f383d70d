import { ref, watch } from 'vue';

/** Something a person chose that this browser remembers. */
function remembered<T extends string>(key: string, known: readonly T[]) {
  const name = `outrider.${key}`;
  const stored = localStorage.getItem(name) as T | null;
  const choice = ref(stored !== null && known.includes(stored) ? stored : known[0]!);
  watch(choice, (value) => localStorage.setItem(name, value));
  return choice;
}

/** How times are told. */
export const timeModes = ['relative', 'local', 'utc'] as const;
export const timeMode = remembered('times', timeModes);

/** Light, dark, or as the system has it. */
export const themes = ['system', 'light', 'dark'] as const;
export const theme = remembered('theme', themes);

watch(
  theme,
  (value) => {
    if (value === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = value;
  },
  { immediate: true },
);
