import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { AppError, EXIT } from '../../errors/index.ts';

/** Ports a crawl may reach unless told otherwise: the web's own and their usual doubles. */
export const DEFAULT_ALLOWED_PORTS: readonly number[] = [80, 443, 8080, 8443];

/** What the guard says about one address and port. */
export type AddressVerdict =
  | { allowed: true }
  | { allowed: false; kind: 'refused_address' | 'refused_port'; detail: string };

/** Decides which addresses and ports may be connected to. */
export type AddressGuard = {
  /** The verdict on a connection to this address literal and port. */
  check(address: string, port: number): AddressVerdict;
  /** False when no address at all could make this port acceptable: spares the DNS lookup. */
  portCanPass(port: number): boolean;
};

type AllowedNetwork = { network: ipaddr.IPv4 | ipaddr.IPv6; prefix: number; port: number | '*' };

const ALLOWED: AddressVerdict = { allowed: true };
// Verdicts are pure, and the same few thousand addresses come back all day: parsing costs microseconds each.
const MAX_REMEMBERED = 10_000;

// Global unicast is 2000::/3 (RFC 4291 section 2.4); everything else in IPv6, `::/96` and NAT64 included, is not
// an address of a public web server. ipaddr.js calls all it does not know "unicast", so its word alone is too weak.
const GLOBAL_UNICAST_V6: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];
// Azure's host agent answers on a public-looking address; the other clouds' metadata live in refused ranges
// (169.254.169.254 link-local, 100.100.100.200 CGNAT, 192.0.0.192 IETF, fd00:ec2::254 unique-local).
const METADATA_ADDRESSES = new Set(['168.63.129.16']);

const ENTRY = /^(?:\[([0-9a-f:.]{2,45})\]|([0-9.]{7,15}))(?:\/(\d{1,3}))?:(\d{1,5}|\*)$/i;

/** Reads one exception of the form `CIDR:PORT`, e.g. `127.0.0.0/8:8080`, `[::1]/128:*`. */
function parseAllowedNetwork(entry: string): AllowedNetwork {
  const match = ENTRY.exec(entry.trim());
  const address = match?.[1] ?? match?.[2];
  const port = match?.[4] === '*' ? '*' : Number(match?.[4]);
  if (address !== undefined && isIP(address) !== 0 && (port === '*' || (port > 0 && port < 65_536))) {
    const network = ipaddr.parse(address);
    const widest = network.kind() === 'ipv4' ? 32 : 128;
    const prefix = match?.[3] === undefined ? widest : Number(match[3]);
    if (prefix <= widest) return { network, prefix, port };
  }
  throw new AppError('allow_networks_invalid', `"${entry}" is not a CIDR:PORT exception`, {
    exitCode: EXIT.usage,
    httpStatus: 400,
    advice: 'Write it like 127.0.0.0/8:8080, [::1]/128:8080 or 10.0.0.0/8:*.',
  });
}

function isPublicUnicast(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  // Names outside the typed union exist at run time (discard, orchid …); anything but plain unicast is refused.
  if (address.range() !== 'unicast') return false;
  if (address.kind() === 'ipv4') return !METADATA_ADDRESSES.has(address.toString());
  return (address as ipaddr.IPv6).match(GLOBAL_UNICAST_V6);
}

function isListed(
  address: ipaddr.IPv4 | ipaddr.IPv6,
  port: number,
  networks: readonly AllowedNetwork[],
): boolean {
  return networks.some(
    (entry) =>
      (entry.port === '*' || entry.port === port) &&
      entry.network.kind() === address.kind() &&
      address.match(entry.network, entry.prefix),
  );
}

function decide(
  text: string,
  port: number,
  networks: readonly AllowedNetwork[],
  ports: ReadonlySet<number>,
): AddressVerdict {
  // ipaddr.js also reads "1.2.3" and octal parts; what Node would not dial as a literal is no literal here.
  if (isIP(text) === 0)
    return { allowed: false, kind: 'refused_address', detail: `${text.slice(0, 80)} is not an address` };
  const address = ipaddr.parse(text);
  if (isListed(address, port, networks)) return ALLOWED;
  if (!isPublicUnicast(address))
    return {
      allowed: false,
      kind: 'refused_address',
      detail: `${text} is not a public address (${address.range()})`,
    };
  if (!ports.has(port))
    return { allowed: false, kind: 'refused_port', detail: `port ${port} is not one of the allowed ports` };
  return ALLOWED;
}

/**
 * Builds the guard from the exceptions and the allowed ports. An exception names networks *and* ports: a boolean
 * "allow private" would open every service of the intranet to any page that links to it.
 */
export function createAddressGuard(
  allowNetworks: readonly string[] = [],
  allowedPorts: readonly number[] = DEFAULT_ALLOWED_PORTS,
): AddressGuard {
  const networks = allowNetworks.map(parseAllowedNetwork);
  const ports = new Set(allowedPorts);
  const remembered = new Map<string, AddressVerdict>();
  return {
    check(address, port) {
      const key = `${address} ${port}`;
      let verdict = remembered.get(key);
      if (verdict === undefined) {
        if (remembered.size >= MAX_REMEMBERED) remembered.clear();
        verdict = decide(address, port, networks, ports);
        remembered.set(key, verdict);
      }
      return verdict;
    },
    portCanPass(port) {
      return ports.has(port) || networks.some((entry) => entry.port === '*' || entry.port === port);
    },
  };
}

/** The /24 (IPv4) or /48 (IPv6) an address lies in, as a key for limits. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address.slice(0, Math.max(0, address.lastIndexOf('.')));
  if (!ipaddr.isValid(address)) return address;
  return (ipaddr.parse(address) as ipaddr.IPv6).parts
    .slice(0, 3)
    .map((part) => part.toString(16))
    .join(':');
}

/** Whether two literals are the same address, whatever the notation (an IPv4-mapped peer equals its IPv4). */
export function isSameAddress(left: string, right: string): boolean {
  if (left === right) return true;
  if (!ipaddr.isValid(left) || !ipaddr.isValid(right)) return false;
  return ipaddr.process(left).toNormalizedString() === ipaddr.process(right).toNormalizedString();
}
