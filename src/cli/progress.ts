import { cutToWidth, oneLine } from './output.ts';

/** A progress bar on a terminal; silent when standard error is piped. */
export type Progress = { show(done: number, note: string): void; end(): void };

const barWidth = 24;

/** Starts a bar over `total` steps. */
export function startProgress(total: number): Progress {
  const { stderr } = process;
  if (!stderr.isTTY) return { show: () => undefined, end: () => undefined };
  return {
    show: (done, note) => {
      const share = total === 0 ? 1 : Math.min(1, done / total);
      const filled = Math.round(share * barWidth);
      const bar = '█'.repeat(filled) + '░'.repeat(barWidth - filled);
      const line = `${bar} ${Math.floor(share * 100)} %  ${done}/${total}  ${oneLine(note)}`;
      // A line that wraps could not be wiped by going back to its beginning.
      stderr.write(`\r\u001b[K${cutToWidth(line, Math.max(1, (stderr.columns ?? 80) - 1))}`);
    },
    end: () => void stderr.write('\r\u001b[K'),
  };
}
