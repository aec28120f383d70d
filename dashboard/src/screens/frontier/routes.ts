import type { RouteRecordRaw } from 'vue-router';

export const routes: RouteRecordRaw[] = [
  { path: '/frontier', name: 'frontier', component: () => import('./frontier-screen.vue') },
  { path: '/frontier/:id', name: 'url', component: () => import('./url-screen.vue'), props: true },
];
