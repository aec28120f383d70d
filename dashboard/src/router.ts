import { createRouter, createWebHistory, type RouteRecordRaw, START_LOCATION } from 'vue-router';
import { afterGrowth } from './frame/growth.ts';
import { say } from './parts/toasts.ts';

// Each folder of screens/ tells its own addresses.
const found = import.meta.glob<{ routes: RouteRecordRaw[] }>('./screens/*/routes.ts', { eager: true });

/** Which screen an address shows. */
export const router = createRouter({
  history: createWebHistory(),
  routes: [
    ...Object.values(found).flatMap(({ routes }) => routes),
    { path: '/:rest(.*)*', name: 'nowhere', component: () => import('./frame/no-place.vue') },
  ],
  scrollBehavior: async (to, from, saved) => {
    if (saved !== null) {
      // A list that is asked for anew has no height yet: its place is there when its rows are.
      const isWanted = await afterGrowth(saved.top);
      return isWanted && router.currentRoute.value === to && saved;
    }
    const staysInList = to.meta.isBesideList === true && to.name === from.name;
    const isSamePage = (to.query.page ?? '') === (from.query.page ?? '');
    return (to.path === from.path || staysInList) && isSamePage ? false : { top: 0 };
  },
});

/**
 * The code of a screen comes when it is first shown. A browser remembers a part that it could not get for as long as the
 * page lives, and after an upgrade the part has another name: only a page that is loaded anew can show that screen.
 */
router.onError(async (error, to, from) => {
  console.warn(error);
  try {
    const answer = await fetch(to.fullPath, { cache: 'no-store' });
    // From the start there is nothing newer to be had, and no end to trying.
    if (answer.ok && from !== START_LOCATION) window.location.assign(to.fullPath);
    else say('This screen could not be loaded. Load the page again.', 'fail');
  } catch (reason) {
    console.warn(reason);
    say('This screen could not be loaded: the server does not answer. Try it again later.', 'fail');
  }
});
