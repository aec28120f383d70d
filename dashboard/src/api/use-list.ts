import { computed, type Ref, type ShallowRef } from 'vue';
import { useRouter } from 'vue-router';
import type { Input, Item, OperationName } from './client.ts';
import type { Operations } from './operations.ts';
import { filterProblem, type Problem } from './problem.ts';
import { useAnswer } from './use-answer.ts';
import { useQuery } from './use-query.ts';

/** Operations that answer a page of a list. */
export type ListName = {
  [K in OperationName]: Operations[K]['answer'] extends { items: unknown[]; cursor: string | null }
    ? K
    : never;
}[OperationName];

/** A page of a list, bound to the address. */
export type List<K extends ListName> = {
  items: Ref<readonly Item<K>[]>;
  /** The whole answer: totals and counts beside the items. */
  data: ShallowRef<Operations[K]['answer'] | null>;
  problem: Readonly<Ref<Problem | null>>;
  isLoading: Ref<boolean>;
  page: Ref<number>;
  hasNext: Ref<boolean>;
  next(): void;
  previous(): void;
  refresh(): Promise<void>;
  /** What is asked now, without its page: what "all matching" means. */
  filter: Ref<Record<string, string | number | boolean | undefined>>;
};

const filterRefused = 'request_invalid';

/**
 * A list that is read a page at a time. The page is in the address as the server's cursor, so that it can be sent on and
 * the browser's Back goes back.
 */
export function useList<K extends ListName>(
  name: K,
  filter: () => Record<string, string | number | boolean | undefined>,
  options: { everyMs?: number; path?: () => Record<string, string | number>; pageSize?: number } = {},
): List<K> {
  const router = useRouter();
  const query = useQuery();
  const limit = options.pageSize ?? 50;
  const asked = useAnswer(
    name,
    () =>
      ({
        ...(options.path === undefined ? {} : { path: options.path() }),
        query: { ...filter(), limit, cursor: query.get('cursor') || undefined },
      }) as Input<K>,
    options.everyMs === undefined ? {} : { everyMs: options.everyMs },
  );
  type Page = { items: readonly Item<K>[]; cursor: string | null };
  const answered = computed(() => asked.data.value as Page | null);
  const page = computed(() => Math.max(1, Number(query.get('page')) || 1));
  return {
    items: computed(() => answered.value?.items ?? []),
    data: asked.data,
    problem: computed(() =>
      asked.problem.value?.code === filterRefused ? filterProblem(asked.problem.value) : asked.problem.value,
    ),
    isLoading: asked.isLoading,
    page,
    hasNext: computed(() => (answered.value?.cursor ?? null) !== null),
    next: () => {
      const cursor = answered.value?.cursor ?? null;
      if (cursor === null) return;
      void router.push({
        query: { ...router.currentRoute.value.query, cursor, page: String(page.value + 1) },
      });
    },
    previous: () => {
      // Cursors lead forward only: the page before is where the browser was, or else the first.
      const { back } = window.history.state as { back?: string | null };
      if (back?.split('?')[0] === router.currentRoute.value.path) router.back();
      else void query.set({ cursor: undefined, page: undefined });
    },
    refresh: async () => {
      // A place that this list does not know, of another order or another database: asked again it is unknown again.
      if (asked.problem.value?.code === 'cursor_invalid')
        await query.set({ cursor: undefined, page: undefined });
      else if (asked.problem.value?.code === filterRefused)
        await query.set(
          Object.fromEntries(
            Object.keys(router.currentRoute.value.query)
              .filter((name) => name !== 'tab')
              .map((name) => [name, undefined]),
          ),
        );
      else await asked.refresh();
    },
    filter: computed(filter),
  };
}
