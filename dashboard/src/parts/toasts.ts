import { reactive } from 'vue';

/** What was said lately. */
export const toasts = reactive<{ id: number; text: string; tone: 'ok' | 'fail' }[]>([]);

let lastId = 0;

/** Takes a toast away. */
export function unsay(id: number): void {
  const index = toasts.findIndex((toast) => toast.id === id);
  if (index >= 0) toasts.splice(index, 1);
}

/** Says something at the edge of the page. What went wrong stays until it is closed. */
export function say(text: string, tone: 'ok' | 'fail' = 'ok'): void {
  lastId += 1;
  const id = lastId;
  // Said again, it takes the place of what it was: four times the same sentence tells nothing more.
  const before = toasts.find((toast) => toast.text === text && toast.tone === tone);
  if (before !== undefined) unsay(before.id);
  toasts.push({ id, text, tone });
  if (toasts.length > 4) toasts.shift();
  if (tone === 'ok') setTimeout(() => unsay(id), 6000);
}
