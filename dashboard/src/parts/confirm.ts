import { shallowRef } from 'vue';

/** What is asked before something is done that cannot be taken back easily. */
export type Question = {
  title: string;
  text: string;
  /** What the button says: what will happen. */
  label: string;
  isDanger?: boolean;
  /** Asks for a reason, which is kept with what was done. */
  reason?: { label: string; isNeeded: boolean };
};
type Open = Question & { answer: (reason: string | null) => void };

/** The question that is open; the frame shows it. */
export const question = shallowRef<Open | null>(null);

/** Asks, and answers the reason given ("" when none was asked for), or null when it was declined. */
export function confirm(asked: Question): Promise<string | null> {
  question.value?.answer(null);
  return new Promise((resolve) => {
    question.value = {
      ...asked,
      answer: (reason) => {
        question.value = null;
        resolve(reason);
      },
    };
  });
}
