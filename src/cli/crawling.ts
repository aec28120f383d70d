import type { WorkerState } from '../domains/index.ts';
import type { Api, Json } from './api.ts';

/** Whether processes run that find feeds and fetch, wherever they are. */
export async function isCrawling(api: Api): Promise<boolean> {
  const { items } = await api.get<{ items: Json<WorkerState>[] }>('/api/v1/workers');
  const roles = new Set(items.filter((one) => one.isAlive).map((one) => one.role));
  return roles.has('run') || (roles.has('fetch') && roles.has('schedule'));
}
