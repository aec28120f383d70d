import type { RouteRecordRaw } from 'vue-router';

export const routes: RouteRecordRaw[] = [
  { path: '/domains', name: 'domains', component: () => import('./domains-screen.vue') },
  { path: '/domains/:name', name: 'domain', component: () => import('./domain-screen.vue'), props: true },
];
