import { watch } from 'vue';
import { live } from '../../api/live.ts';
import { type Asked, useAnswer } from '../../api/use-answer.ts';

/**
 * The processes with their loops. Counting what they hold reads every slot, so they are asked for now and then; at once,
 * though, when the stream tells that one has come, gone or changed its health.
 */
export function useProcesses(): Asked<'listWorkers'> {
  const asked = useAnswer('listWorkers', () => ({}), { everyMs: 10_000 });
  watch(
    () => live.workers,
    () => void asked.refresh(),
  );
  return asked;
}
