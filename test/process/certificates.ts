import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A certificate with its key, and the file of the authority that vouches for it. */
export type Certificate = { authorityFile: string; cert: Buffer; key: Buffer };

/** Whether certificates can be made here. */
export function hasOpenssl(): boolean {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false; // not installed; the tests that need it say so
  }
}

/** Makes an authority and a certificate of its own for one name, in a directory. */
export function makeCertificate(dir: string, name: string): Certificate {
  const file = (ending: string): string => join(dir, `${name}.${ending}`);
  const run = (...args: string[]): void => void execFileSync('openssl', args, { stdio: 'ignore' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  run(
    ...['req', '-x509', ...newKey, '-days', '2', '-subj', `/CN=authority of ${name}`],
    ...['-keyout', file('ca.key'), '-out', file('ca.pem')],
  );
  run('req', ...newKey, '-subj', `/CN=${name}`, '-keyout', file('key'), '-out', file('csr'));
  writeFileSync(file('ext'), `subjectAltName=DNS:${name}\n`);
  run(
    ...[
      'x509',
      '-req',
      '-in',
      file('csr'),
      '-CA',
      file('ca.pem'),
      '-CAkey',
      file('ca.key'),
      '-CAcreateserial',
    ],
    ...['-days', '2', '-extfile', file('ext'), '-out', file('pem')],
  );
  return { authorityFile: file('ca.pem'), cert: readFileSync(file('pem')), key: readFileSync(file('key')) };
}
