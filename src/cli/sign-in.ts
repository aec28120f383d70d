import { claimFirstLink, createSignInCode, signInLink, signInMinutes } from '../auth/index.ts';
import type { Config } from '../config/index.ts';
import type { Queryable } from '../db/index.ts';
import { operatorName } from './operator.ts';

/** The name a browser has that was signed in by whoever runs this. */
export const signInName = (): string => operatorName().replace(/^cli:/, 'web:');

/** Whether people sign in by links only: no secret or keys are set for anything else. */
const isLocalOnly = ({ auth }: Config): boolean => auth.jwtSecret === null && auth.jwksUrl === null;

/** What a person reads after a start to get in: a link the first time on a database, how to get one later on. */
export async function signInWords(db: Queryable, address: string, config: Config): Promise<string> {
  if (!isLocalOnly(config) || !(await claimFirstLink(db))) return 'Sign in with: outrider token sign-in';
  return newSignInWords(db, address);
}

/** The same with a new link at any time. */
export async function newSignInWords(db: Queryable, address: string): Promise<string> {
  const link = signInLink(address, await createSignInCode(db, signInName()));
  return `Sign in (once, within ${signInMinutes} minutes): ${link}`;
}
