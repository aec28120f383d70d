import { ref } from 'vue';
import type { timeModes } from './choices.ts';
import { spanText } from './format.ts';

/** The present, good to a few seconds: enough for "2 min ago". */
export const now = ref(Date.now());
setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 5000);

const two = (value: number): string => String(value).padStart(2, '0');

/** A moment as text. */
export function timeText(at: Date, mode: (typeof timeModes)[number], nowMs: number): string {
  if (Number.isNaN(at.getTime())) return 'at no known time';
  if (mode === 'utc') return `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  if (mode === 'local')
    return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  const seconds = (nowMs - at.getTime()) / 1000;
  if (Math.abs(seconds) < 5) return 'now';
  return seconds > 0 ? `${spanText(seconds)} ago` : `in ${spanText(seconds)}`;
}
