import { nextTick, type Ref, ref, shallowRef } from 'vue';
import { type Problem, problemOf } from '../../api/problem.ts';
import { say } from '../../parts/toasts.ts';
import { type FormFailure, failureOf } from './job-form.ts';

/** Sends a form: a refusal is shown at the field it is about, or above the form where it is about none. */
export function useJobForm(): {
  isBusy: Ref<boolean>;
  failure: Ref<FormFailure | null>;
  problem: Ref<Problem | null>;
  send<T extends { warnings: string[] }>(
    work: () => Promise<T>,
    done: (saved: T) => string,
  ): Promise<T | null>;
} {
  const isBusy = ref(false);
  const failure = shallowRef<FormFailure | null>(null);
  const problem = shallowRef<Problem | null>(null);

  async function refuse(error: unknown): Promise<void> {
    const refused = problemOf(error);
    failure.value = failureOf(refused);
    problem.value = failure.value === null ? refused : null;
    await nextTick();
    document.querySelector<HTMLElement>('main [aria-invalid="true"]')?.focus();
  }
  return {
    isBusy,
    failure,
    problem,
    send: async (work, done) => {
      if (isBusy.value) return null;
      isBusy.value = true;
      failure.value = null;
      problem.value = null;
      try {
        const saved = await work();
        say([done(saved), ...saved.warnings.map((warning) => `To think over: ${warning}.`)].join(' '));
        return saved;
      } catch (error) {
        await refuse(error);
        return null;
      } finally {
        isBusy.value = false;
      }
    },
  };
}
