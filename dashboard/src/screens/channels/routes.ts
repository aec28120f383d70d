import type { RouteRecordRaw } from 'vue-router';

/** The screens of what is polled. */
export const routes: RouteRecordRaw[] = [
  { path: '/channels', name: 'channels', component: () => import('./channel-list.vue') },
  {
    path: '/channels/:id(\\d+)',
    name: 'channel',
    component: () => import('./channel-detail.vue'),
    props: ({ params }) => ({ id: Number(params.id) }),
  },
];
