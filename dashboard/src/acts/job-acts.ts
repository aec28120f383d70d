import { ref } from 'vue';
import { actOnMany, loadMatching, mostMatching } from '../api/act-on-many.ts';
import { ask } from '../api/client.ts';
import { problemOf } from '../api/problem.ts';
import { confirm } from '../parts/confirm.ts';
import { countText, plural } from '../parts/format.ts';
import { actionWords, type JobAction, type JobFacts, jobName } from '../parts/job-words.ts';
import { say } from '../parts/toasts.ts';

/** A job as far as acts need it. */
export type ActedJob = Pick<JobFacts, 'id' | 'kind' | 'source' | 'actions' | 'status'>;
type Filter = Readonly<Record<string, string | number | boolean | undefined>>;

/** What can be done with one job or many; `after` is called when something was changed. */
export function useJobActs(after: () => Promise<unknown>) {
  const isBusy = ref(false);

  async function attempt(work: () => Promise<number>): Promise<void> {
    if (isBusy.value) return;
    isBusy.value = true;
    try {
      if ((await work()) > 0) await after();
    } catch (error) {
      say(problemOf(error).message, 'fail');
    } finally {
      isBusy.value = false;
    }
  }

  /** Asks before what cannot be taken back, and before what nobody has seen in full. */
  async function reasonFor(
    action: JobAction,
    jobs: readonly ActedJob[],
    more: boolean,
  ): Promise<string | null> {
    const { label } = actionWords[action];
    const [one] = jobs;
    const name =
      jobs.length === 1 && one !== undefined ? `job ${one.id} (${jobName(one)})` : plural(jobs.length, 'job');
    if (action === 'cancel')
      return confirm({
        title: `Cancel ${name}?`,
        text: 'It ends for good: a cancelled job is never run again. A run under way ends within a second, and what it still had to fetch is dropped.',
        label: jobs.length === 1 ? 'Cancel the job' : `Cancel ${name}`,
        isDanger: true,
        reason: { label: 'Why? It is kept with the job. (optional)', isNeeded: false },
      });
    if (!more && jobs.length <= 1) return '';
    const first = more ? ` There are more: these are the first ${countText(mostMatching)}.` : '';
    return confirm({
      title: `${label}: ${name}?`,
      text: `This is done to ${name}.${first}`,
      label: `${label}: ${name}`,
    });
  }

  /** Jobs in a state that forbids it are left alone, and that is said. */
  async function doTo(action: JobAction, given: readonly ActedJob[], more = false): Promise<number> {
    const { label, done, many } = actionWords[action];
    const jobs = given.filter(({ actions }) => actions.includes(action));
    if (jobs.length < given.length)
      say(
        `${label}: ${given.length - jobs.length} of ${plural(given.length, 'job')} left alone, as they stand.`,
      );
    if (jobs.length === 0) return 0;
    const reason = await reasonFor(action, jobs, more);
    if (reason === null) return 0;
    return actOnMany(
      jobs.map(({ id }) => id),
      (ids) => ask('actOnJobs', { body: { action, ids, ...(reason === '' ? {} : { reason }) } }),
      (count) =>
        jobs.length === 1
          ? `Job ${jobs[0]!.id} ${done}.`
          : `${plural(count, 'job')} ${count === 1 ? done : many}.`,
    );
  }

  return {
    isBusy,
    act: (action: JobAction, jobs: readonly ActedJob[]) => attempt(() => doTo(action, jobs)),
    actOnMatching: (action: JobAction, filter: Filter) =>
      attempt(async () => {
        const { items, more } = await loadMatching(
          'listJobs',
          filter,
          ({ id, kind, source, actions, status }): ActedJob => ({ id, kind, source, actions, status }),
        );
        return doTo(action, items, more);
      }),
  };
}
