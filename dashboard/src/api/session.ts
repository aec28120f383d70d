import { computed, reactive } from 'vue';
import { type Answer, ask, whenSignedOut } from './client.ts';
import { type Problem, problemOf } from './problem.ts';

type Who = Answer<'getSession'>;

/** Who uses this page. */
export const session = reactive({
  state: 'asking' as 'asking' | 'in' | 'out',
  who: null as Who | null,
  problem: null as Problem | null,
  /** It ended by itself: the token was revoked, or its time was over. */
  hasEnded: false,
});

const ranks = { read: 0, write: 1, admin: 2 } as const;

/** Whether this user may do what needs a role; what they may not do is not shown. */
export const may = (role: keyof typeof ranks): boolean =>
  session.who !== null && ranks[session.who.role] >= ranks[role];

/** May change things. */
export const mayWrite = computed(() => may('write'));

whenSignedOut(() => {
  session.hasEnded ||= session.state === 'in';
  session.state = 'out';
  session.who = null;
});

/** Asks the server who we are. */
export async function loadSession(): Promise<void> {
  session.problem = null;
  try {
    session.who = await ask('getSession', {});
    session.state = 'in';
    session.hasEnded = false;
  } catch (error) {
    const problem = problemOf(error);
    session.state = 'out';
    session.problem = problem.status === 401 ? null : problem;
  }
}

/** Exchanges a token for a session of this browser. */
export async function signIn(token: string): Promise<void> {
  await ask('createSession', {}, { bearer: token });
  await loadSession();
}

/** Ends the session, here and on the server. */
export async function signOut(): Promise<void> {
  await ask('deleteSession', {});
  session.who = null;
  session.state = 'out';
  session.hasEnded = false;
}
