import type { RouteRecordRaw } from 'vue-router';

/** The screens of who is followed. */
export const routes: RouteRecordRaw[] = [
  { path: '/sources', name: 'sources', component: () => import('./source-list.vue') },
  { path: '/sources/add', name: 'add-source', component: () => import('./add-source.vue') },
  {
    path: '/sources/:slug',
    name: 'source',
    component: () => import('./source-detail.vue'),
    props: ({ params }) => ({ slug: String(params.slug) }),
  },
];
