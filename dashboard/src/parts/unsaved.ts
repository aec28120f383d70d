import { onBeforeUnmount } from 'vue';
import { useRouter } from 'vue-router';
import { confirm } from './confirm.ts';

let isLost = false;

/** Goes elsewhere without a question: what the form was about is no more. */
export async function leaveLost(go: () => Promise<unknown>): Promise<void> {
  isLost = true;
  try {
    await go();
  } finally {
    isLost = false;
  }
}

/** Asks before what somebody has typed into a form is lost by going elsewhere. */
export function useUnsaved(isChanged: () => boolean, what: string): void {
  const router = useRouter();
  const end = router.beforeEach(async (to, from) => {
    const stays = to.path === from.path && to.query.tab === from.query.tab;
    if (stays || isLost || !isChanged()) return true;
    const answer = await confirm({
      title: 'Leave without saving?',
      text: `${what} changed and not saved: what you typed would be lost.`,
      label: 'Leave',
      isDanger: true,
    });
    return answer !== null;
  });
  // The tab is closed or loaded anew: here the browser asks, in its own words.
  const warn = (event: BeforeUnloadEvent): void => {
    if (isChanged()) event.preventDefault();
  };
  window.addEventListener('beforeunload', warn);
  onBeforeUnmount(() => {
    end();
    window.removeEventListener('beforeunload', warn);
  });
}
