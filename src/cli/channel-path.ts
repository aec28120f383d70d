import { type ChannelStatus, type PushState, unknownChannel } from '../channels/index.ts';
import type { Api, Json } from './api.ts';

/** A channel as the API tells it. */
export type ShownChannel = Json<
  Omit<ChannelStatus, 'hash' | 'rhythm' | 'polls' | 'notModified' | 'itemsSeen' | 'itemsNew'> & {
    polls: number;
    notModified: number;
    itemsSeen: number;
    itemsNew: number;
    push: PushState | null;
  }
>;

/** The channel a person means, by its number or by an address that it has or had, with or without its scheme. */
export async function findChannel(api: Api, which: string): Promise<ShownChannel> {
  if (/^[1-9]\d{0,8}$/.test(which)) return api.get<ShownChannel>(`/api/v1/channels/${which}`);
  const { items } = await api.get<{ items: ShownChannel[] }>('/api/v1/channels', { url: which });
  if (items[0] === undefined) throw unknownChannel(which);
  return items[0];
}
