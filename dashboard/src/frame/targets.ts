import type { RouteLocationRaw } from 'vue-router';
import { places } from './places.ts';

type Target = {
  screen: string;
  id: string | null;
  /** What to search for. */
  query?: string | null;
  /** Which part of a list, as the API names it. */
  filter?: Readonly<Record<string, string>>;
};

/** Where something that the API points at is shown. */
export function placeOf({ screen, id, query, filter = {} }: Target): RouteLocationRaw {
  const path = places.find(({ name }) => name === screen)?.path ?? '/';
  // Sinks are a part of the health screen.
  if (screen === 'sinks')
    return id === null
      ? { path: '/state', query: { tab: 'sinks' } }
      : `/state/sinks/${encodeURIComponent(id)}`;
  if (screen === 'settings') return { path, query: { tab: 'switches' } };
  if (id !== null) return `${path === '/' ? '' : path}/${encodeURIComponent(id)}`;
  if (query !== null && query !== undefined) return { path, query: { q: query } };
  // The list of channels has one field for every state.
  const { failing, ...rest } = filter;
  return { path, query: { ...rest, ...(failing === undefined ? {} : { state: 'failing' }) } };
}
