import { computed, type WritableComputedRef } from 'vue';
import { type LocationQuery, type LocationQueryRaw, useRoute, useRouter } from 'vue-router';

const textOf = (query: LocationQuery, name: string): string => {
  const value = query[name];
  return (Array.isArray(value) ? value[0] : value) ?? '';
};

/** Where a change under way leads: two fields left in one breath are both kept. */
let underWay: LocationQueryRaw | null = null;

/** What the address says after its question mark, to read and to change: a view that can be sent to somebody. */
export function useQuery() {
  const route = useRoute();
  const router = useRouter();
  const set = async (changes: Readonly<Record<string, string | undefined>>): Promise<void> => {
    const query: LocationQueryRaw = {};
    for (const [name, value] of Object.entries({ ...(underWay ?? route.query), ...changes }))
      if (typeof value === 'string' && value !== '') query[name] = value;
    underWay = query;
    try {
      await router.replace({ query });
    } finally {
      if (underWay === query) underWay = null;
    }
  };
  return {
    get: (name: string): string => textOf(route.query, name),
    set,
    /** One word of it for a field; what is typed begins at the first page. */
    field: (name: string): WritableComputedRef<string> =>
      computed({
        get: () => textOf(route.query, name),
        set: (value) => void set({ [name]: value, cursor: undefined, page: undefined }),
      }),
  };
}
