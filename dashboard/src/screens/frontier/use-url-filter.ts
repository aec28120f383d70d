import { computed } from 'vue';
import type { Input } from '../../api/client.ts';
import { useQuery } from '../../api/use-query.ts';

/** What a list of URLs, and an action on all of them, is narrowed by. */
export type UrlFilter = NonNullable<Input<'actOnUrls'>['body']['filter']>;

const names = [
  'status',
  'kind',
  'source',
  'domain',
  'origin',
  'priority',
  'reason',
  'age',
  'address',
  'sort',
] as const;

/** An address as it was typed: exact, or the beginning of many when it ends in * or /. */
export function addressFilter(typed: string): Pick<UrlFilter, 'url' | 'prefix'> {
  const text = typed.trim();
  if (text === '') return {};
  const whole = /^[a-z][a-z0-9+.-]*:/i.test(text) ? text : `https://${text}`;
  if (whole.endsWith('*')) return { prefix: whole.slice(0, -1) };
  return whole.endsWith('/') ? { prefix: whole } : { url: whole };
}

/** The filter of the address bar, field by field and as the API takes it. */
export function useUrlFilter() {
  const query = useQuery();
  const fields = Object.fromEntries(names.map((name) => [name, query.field(name)])) as Record<
    (typeof names)[number],
    ReturnType<typeof query.field>
  >;
  const given = (name: (typeof names)[number]): string | undefined =>
    fields[name].value.trim() === '' ? undefined : fields[name].value.trim();
  const filter = computed<UrlFilter>(() => {
    const source = given('source');
    const sort = given('sort');
    const priority = Number(given('priority'));
    return {
      status: given('status'),
      kind: given('kind'),
      source,
      domain: given('domain'),
      origin: given('origin'),
      priority_min: priority >= 1 && priority <= 10 ? Math.floor(priority) : undefined,
      reason: given('reason')?.toLowerCase(),
      older_than: given('age'),
      ...addressFilter(fields.address.value),
      // Only the URLs of one source stand by time.
      sort: source !== undefined && (sort === 'newest' || sort === 'oldest') ? sort : undefined,
    };
  });
  const isNarrowed = computed(() => names.some((name) => name !== 'sort' && given(name) !== undefined));
  const clear = (): Promise<unknown> =>
    query.set({
      ...Object.fromEntries(names.map((name) => [name, undefined])),
      cursor: undefined,
      page: undefined,
    });
  return { fields, filter, isNarrowed, clear };
}
