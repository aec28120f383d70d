import type { IconName } from '../parts/icon-sign.vue';

/** A screen of the navigation. */
export type Place = { name: string; label: string; path: string; key: string; icon: IconName };

/** The screens in their order. One without a route of its own yet is not shown. */
export const places: readonly Place[] = [
  { name: 'overview', label: 'Overview', path: '/', key: 'o', icon: 'overview' },
  { name: 'sources', label: 'Sources', path: '/sources', key: 's', icon: 'sources' },
  { name: 'channels', label: 'Channels', path: '/channels', key: 'c', icon: 'channels' },
  { name: 'frontier', label: 'Frontier', path: '/frontier', key: 'f', icon: 'frontier' },
  { name: 'domains', label: 'Domains', path: '/domains', key: 'd', icon: 'domains' },
  { name: 'jobs', label: 'Jobs', path: '/jobs', key: 'j', icon: 'jobs' },
  { name: 'documents', label: 'Documents', path: '/documents', key: 'a', icon: 'documents' },
  { name: 'health', label: 'Health', path: '/state', key: 'h', icon: 'health' },
  { name: 'settings', label: 'Settings', path: '/settings', key: 'e', icon: 'settings' },
];
