import { hash } from 'node:crypto';

/** SHA-256 of a text's UTF-8 bytes. */
export function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
