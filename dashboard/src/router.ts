import { createRouter, createWebHistory, type RouteRecordRaw } from 'vue-router';

// Each folder of screens/ tells its own addresses.
const found = import.meta.glob<{ routes: RouteRecordRaw[] }>('./screens/*/routes.ts', { eager: true });

/** Which screen an address shows. */
export const router = createRouter({
  history: createWebHistory(),
  routes: [
    ...Object.values(found).flatMap(({ routes }) => routes),
    { path: '/:rest(.*)*', name: 'nowhere', component: () => import('./frame/no-place.vue') },
  ],
  scrollBehavior: (to, from, saved) => saved ?? (to.path === from.path ? false : { top: 0 }),
});
