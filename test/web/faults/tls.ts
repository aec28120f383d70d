import { TLSSocket } from 'node:tls';
import { allPages } from '../exchange.ts';
import type { FaultDefinition } from './fault.ts';

function handshake(
  name: string,
  kind: NonNullable<FaultDefinition['handshake']>,
  says: string,
): FaultDefinition {
  return { name, says, on: [], options: {}, handshake: kind, apply: () => 'pass' };
}

/** What goes wrong before the first byte of HTTP over https; needs a web with `tls`, and holds while it is set. */
export const tlsFaults: readonly FaultDefinition[] = [
  handshake('tls-untrusted', 'untrusted', 'A certificate for the right name that nobody vouches for.'),
  handshake('tls-expired', 'expired', 'A certificate of the web’s own authority that ended yesterday.'),
  handshake('tls-incomplete', 'incomplete', 'The intermediate is not sent, only named by its address.'),
  handshake('tls-wrong-host', 'wrong-host', 'A good certificate for another name.'),
  handshake('tls-refused', 'refused', 'The handshake is broken off.'),
  {
    name: 'https-upgrade',
    says: 'Every address redirects to the same one over https.',
    on: [...allPages, 'robots'],
    options: { status: 301 },
    apply: (exchange, options) => {
      if (exchange.request.socket instanceof TLSSocket) return 'pass';
      const location = `https://${exchange.host}${exchange.request.url ?? '/'}`;
      exchange.send({
        status: options.number('status'),
        type: 'text/html',
        body: Buffer.from('moved\n'),
        location,
      });
      return 'answered';
    },
  },
];
