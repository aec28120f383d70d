import { onScopeDispose, reactive, ref } from 'vue';

/** What a key does, as the help tells it. */
export type Key = { keys: string; does: string; act: () => void };

/** The keys that work now; what a screen adds goes with it. */
export const keys = reactive<Key[]>([]);
/** Whether the help is shown. */
export const isHelpOpen = ref(false);

/** Adds keys for as long as this part of the page is there. "g s" is two keys after each other. */
export function useKeys(added: readonly Key[]): void {
  keys.push(...added);
  onScopeDispose(() => {
    for (const one of added) {
      const index = keys.findIndex((known) => known.act === one.act);
      if (index >= 0) keys.splice(index, 1);
    }
  });
}

const followMs = 1500;
let first: { key: string; at: number } | null = null;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) &&
  !(target instanceof HTMLInputElement && /^(checkbox|radio|button)$/.test(target.type));

/** Hears every key of the page that is not typed into something. */
export function startKeys(): void {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (isTyping(event.target) || document.querySelector('dialog[open]') !== null) return;
    // A button or a link has Enter for itself.
    if (
      event.key === 'Enter' &&
      event.target instanceof Element &&
      event.target.matches('a, button, summary')
    )
      return;
    const before = first !== null && Date.now() - first.at < followMs ? `${first.key} ${event.key}` : null;
    // The latest added wins: a list on a screen over the frame's own.
    const hit =
      keys.findLast(({ keys: known }) => known === before) ??
      keys.findLast(({ keys: known }) => known === event.key);
    const isFirst = keys.some(({ keys: known }) => known.startsWith(`${event.key} `));
    first = hit === undefined && isFirst ? { key: event.key, at: Date.now() } : null;
    if (hit === undefined) return;
    event.preventDefault();
    hit.act();
  });
}
