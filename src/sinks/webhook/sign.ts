import { createHmac } from 'node:crypto';

/** The three headers by which a receiver knows who sent a message, when, and whether it has had it already. */
export type SignatureHeaders = {
  'webhook-id': string;
  'webhook-timestamp': string;
  'webhook-signature': string;
};

/** Reads a secret: base64 behind `whsec_` as the Standard Webhooks specification writes it, anything else as it is. */
export function secretBytes(secret: string): Buffer {
  return secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret, 'utf8');
}

/**
 * Signs a message as the Standard Webhooks specification says, so that receivers may use any library made for it: the
 * time is part of what is signed, and the id is the same each time the same version is sent.
 */
export function signMessage(
  key: Buffer,
  message: { id: string; atSeconds: number; body: string },
): SignatureHeaders {
  const signed = `${message.id}.${message.atSeconds}.${message.body}`;
  return {
    'webhook-id': message.id,
    'webhook-timestamp': String(message.atSeconds),
    'webhook-signature': `v1,${createHmac('sha256', key).update(signed).digest('base64')}`,
  };
}
