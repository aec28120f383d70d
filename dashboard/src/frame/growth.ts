// Whoever went back to a list that has become shorter should not wait for rows that never come.
const mostMs = 3000;

/**
 * Waits until the page is high enough to be scrolled down so far, or it is clear that it will not be; false: meanwhile
 * somebody has begun to scroll or to type, and is not to be moved any more.
 */
export function afterGrowth(top: number): Promise<boolean> {
  const root = document.documentElement;
  const isHigh = (): boolean => root.scrollHeight - window.innerHeight >= top;
  if (isHigh()) return Promise.resolve(true);
  return new Promise((resolve) => {
    const moves = ['wheel', 'touchmove', 'keydown'] as const;
    const end = (isWanted: boolean): void => {
      watcher.disconnect();
      clearTimeout(timer);
      for (const name of moves) window.removeEventListener(name, stop);
      resolve(isWanted);
    };
    const stop = (): void => end(false);
    const watcher = new ResizeObserver(() => {
      if (isHigh()) end(true);
    });
    const timer = setTimeout(() => end(true), mostMs);
    for (const name of moves) window.addEventListener(name, stop, { passive: true });
    watcher.observe(document.body);
  });
}
