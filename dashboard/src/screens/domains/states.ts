import type { Item } from '../../api/client.ts';

export type State = Item<'listDomains'>['status'];

/** The states of a domain, in the order it may go through them. */
export const states = ['pending', 'active', 'exhausted', 'blocked', 'unreachable'] as const;

/** What each state means. */
export const stateMeanings: Readonly<Record<State, string>> = {
  pending: 'known, and never asked yet',
  active: 'asked now and then; work remains',
  exhausted: 'nothing of it waits',
  blocked: 'refuses us, or somebody blocked it',
  unreachable: 'does not answer',
};

/** A move that happens by itself: a line of the drawing, and a word for it where there is room. */
export type Move = {
  from: State;
  to: State;
  path: string;
  label?: { text: string; x: number; y: number; anchor: 'start' | 'middle' | 'end' };
};

/** The drawing's field, and where the middle of each state lies on it. */
export const field = { width: 720, height: 300 } as const;
export const places: Readonly<Record<State, { x: number; y: number }>> = {
  pending: { x: 82, y: 150 },
  active: { x: 360, y: 150 },
  exhausted: { x: 638, y: 150 },
  blocked: { x: 360, y: 34 },
  unreachable: { x: 360, y: 266 },
};

/** Every move the engine makes. The engine's own table is in src/domains/lifecycle.ts; a test compares the two. */
export const moves: readonly Move[] = [
  {
    from: 'pending',
    to: 'active',
    path: 'M166 150H274',
    label: { text: 'first request', x: 220, y: 142, anchor: 'middle' },
  },
  { from: 'pending', to: 'blocked', path: 'M82 118C82 58 160 34 274 34' },
  { from: 'pending', to: 'unreachable', path: 'M82 182C82 242 160 266 274 266' },
  {
    from: 'active',
    to: 'exhausted',
    path: 'M444 140H552',
    label: { text: 'nothing waits', x: 498, y: 132, anchor: 'middle' },
  },
  {
    from: 'active',
    to: 'blocked',
    path: 'M345 119V69',
    label: { text: 'it refuses us', x: 336, y: 98, anchor: 'end' },
  },
  {
    from: 'active',
    to: 'unreachable',
    path: 'M345 181V231',
    label: { text: 'no connection', x: 336, y: 210, anchor: 'end' },
  },
  {
    from: 'exhausted',
    to: 'active',
    path: 'M554 161H446',
    label: { text: 'new URLs', x: 498, y: 178, anchor: 'middle' },
  },
  { from: 'exhausted', to: 'blocked', path: 'M638 118C638 58 560 34 446 34' },
  { from: 'exhausted', to: 'unreachable', path: 'M638 182C638 242 560 266 446 266' },
  {
    from: 'blocked',
    to: 'active',
    path: 'M375 67V117',
    label: { text: 'its rest is over', x: 384, y: 98, anchor: 'start' },
  },
  {
    from: 'unreachable',
    to: 'active',
    path: 'M375 233V183',
    label: { text: 'its rest is over', x: 384, y: 210, anchor: 'start' },
  },
];
