import { onScopeDispose, watch } from 'vue';
import { live } from './live.ts';

/**
 * Does something when something has happened, at most every `everyMs`. What happens in between is not forgotten: it is
 * done once more when the time has passed, as nothing else may happen that would bring the last news.
 */
export function useNews(everyMs: number, act: () => void): void {
  let doneAt = Date.now();
  let timer: ReturnType<typeof setTimeout> | undefined;
  watch(
    () => live.tick,
    () => {
      if (timer !== undefined) return;
      timer = setTimeout(
        () => {
          timer = undefined;
          // Whoever paused wants to read on in peace; going on brings news by itself.
          if (live.state === 'paused') return;
          doneAt = Date.now();
          act();
        },
        Math.max(0, doneAt + everyMs - Date.now()),
      );
    },
  );
  onScopeDispose(() => clearTimeout(timer));
}
