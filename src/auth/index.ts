export type { AuthAnswer, Authenticator, Proof } from './authenticator.ts';
export { createAuthenticator } from './create-authenticator.ts';
export { type Identity, permits, type Role, roles } from './roles.ts';
export { claimFirstLink, replaceSessionKey } from './secrets.ts';
export { createSignInCode, signInLink, signInMinutes } from './sign-in-codes.ts';
export {
  type ApiToken,
  createToken,
  listTokens,
  revokeToken,
  tokenNamePattern,
} from './tokens.ts';
