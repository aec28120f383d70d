import type { RouteRecordRaw } from 'vue-router';

/** The screens of how the engine itself does. */
export const routes: RouteRecordRaw[] = [
  { path: '/state', name: 'health', component: () => import('./health-screen.vue') },
  {
    path: '/state/sinks/:id',
    name: 'sink',
    component: () => import('./sink-detail.vue'),
    props: true,
  },
];
