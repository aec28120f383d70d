import { isIP } from 'node:net';
import type { Config } from '../config/index.ts';
import { AppError } from '../errors/index.ts';
import { isWordAlone, withScheme } from '../source-lists/index.ts';
import { resolveUrl } from '../url/index.ts';

/** Says why an address may not be followed; null: it may. */
export type AddressCheck = (url: string) => string | null;

/**
 * Refuses addresses that name a host of our own network by number, as every fetch would: whoever gives one should hear
 * it at once. Names are looked up when they are fetched, and the answer is checked then. Loaded when it is first needed:
 * a command that only reads should not wait for the HTTP client it comes with.
 */
export async function loadAddressCheck(config: Config): Promise<AddressCheck> {
  const { createAddressGuard } = await import('../fetch/index.ts');
  const guard = createAddressGuard(config.fetch.allowNetworks);
  return (url) => {
    const href = resolveUrl(url);
    // What is no address at all is said by whoever reads it.
    if (href === null) return null;
    const { hostname, port, protocol } = new URL(href);
    const number = port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
    const name = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
    // RFC 6761 section 6.3: every name under localhost is this machine.
    const literal = name === 'localhost' || name.endsWith('.localhost') ? '127.0.0.1' : name;
    if (isIP(literal) !== 0) {
      const verdict = guard.check(literal, number);
      return verdict.allowed ? null : verdict.detail;
    }
    return guard.portCanPass(number) ? null : `port ${number} is not one of the allowed ports`;
  };
}

/** An address of a publisher or a channel as a person gave it, with its scheme; throws for what is none. */
export function givenAddress(given: string): string {
  if (!isWordAlone(given)) return withScheme(given);
  throw new AppError('source_url_invalid', `"${given.slice(0, 200)}" is not an address that can be crawled`, {
    httpStatus: 422,
    advice: 'Give a web address, as example.com or https://example.com/',
  });
}

/** Throws for an address that may not be followed. */
export async function requireAllowed(config: Config, url: string): Promise<void> {
  const reason = (await loadAddressCheck(config))(url);
  if (reason === null) return;
  throw new AppError('address_refused', `"${url.slice(0, 200)}" may not be fetched: ${reason}`, {
    httpStatus: 422,
    advice: 'Private networks need fetch.allow_networks, as 127.0.0.0/8:8080.',
  });
}
