import type { RouteRecordRaw } from 'vue-router';

export const routes: RouteRecordRaw[] = [
  {
    path: '/documents/:id?',
    name: 'documents',
    component: () => import('./documents-screen.vue'),
    // A document opens beside the list, which stays where it is.
    meta: { isBesideList: true },
  },
];
