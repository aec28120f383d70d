import type { RouteRecordRaw } from 'vue-router';

const numbered = ({ params }: { params: Record<string, string | string[]> }) => ({ id: Number(params.id) });

/** The screens of what is run once or again and again. */
export const routes: RouteRecordRaw[] = [
  { path: '/jobs', name: 'jobs', component: () => import('./jobs-screen.vue') },
  { path: '/jobs/new', name: 'new-job', component: () => import('./new-job.vue') },
  { path: '/jobs/:id(\\d+)', name: 'job', component: () => import('./job-detail.vue'), props: numbered },
  {
    path: '/jobs/:id(\\d+)/change',
    name: 'change-job',
    component: () => import('./change-job.vue'),
    props: numbered,
  },
  {
    path: '/jobs/runs/:id(\\d+)',
    name: 'run',
    component: () => import('./run-detail.vue'),
    // Wider than a number of JavaScript.
    props: ({ params }) => ({ id: String(params.id) }),
  },
];
