import { ref } from 'vue';
import { say } from '../parts/toasts.ts';
import { type Answer, ask, type Input, type OperationName } from './client.ts';
import { problemOf, problemText } from './problem.ts';

/** Does something that changes things: one at a time, and says how it went. */
export function useAction() {
  const isBusy = ref(false);
  /** Answers null when it was refused; the reason has been said then. */
  async function act<K extends OperationName>(
    name: K,
    input: Input<K>,
    done?: string | ((answer: Answer<K>) => string),
  ): Promise<Answer<K> | null> {
    if (isBusy.value) return null;
    isBusy.value = true;
    try {
      const answer = await ask(name, input);
      if (done !== undefined) say(typeof done === 'string' ? done : done(answer));
      return answer;
    } catch (error) {
      say(problemText(problemOf(error)), 'fail');
      return null;
    } finally {
      isBusy.value = false;
    }
  }
  return { act, isBusy };
}
