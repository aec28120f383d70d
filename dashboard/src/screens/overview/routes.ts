import type { RouteRecordRaw } from 'vue-router';

/** The first screen: how everything does. */
export const routes: RouteRecordRaw[] = [
  { path: '/', name: 'overview', component: () => import('./overview-screen.vue') },
];
