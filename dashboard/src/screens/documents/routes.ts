import type { RouteRecordRaw } from 'vue-router';

export const routes: RouteRecordRaw[] = [
  { path: '/documents/:id?', name: 'documents', component: () => import('./documents-screen.vue') },
];
