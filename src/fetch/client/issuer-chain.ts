import { X509Certificate } from 'node:crypto';
import type { DetailedPeerCertificate } from 'node:tls';

const MAX_LINKS = 10;
const MAX_URL_CHARS = 1024;
const PEM = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/g;

function parseDer(der: Buffer): X509Certificate | null {
  try {
    return new X509Certificate(der);
  } catch {
    return null;
  }
}

/**
 * The certificates of a PEM text. Only plain ones: OpenSSL's "TRUSTED CERTIFICATE" carries its own word that it may be
 * trusted, and what is read here is never asked for that.
 */
export function parsePemCertificates(text: string): X509Certificate[] {
  return [...text.matchAll(PEM)].flatMap(([, base64 = '']) => parseDer(Buffer.from(base64, 'base64')) ?? []);
}

/** One certificate as an issuer's address gives it, DER (RFC 5280 section 4.2.2.1) or, as some do, PEM. */
export function parseCertificate(bytes: Buffer): X509Certificate | null {
  if (bytes[0] === 0x30) return parseDer(bytes);
  const [only, another] = parsePemCertificates(bytes.toString('latin1'));
  return another === undefined ? (only ?? null) : null;
}

/** PEM of the signed bytes alone. */
export function toPem(certificate: X509Certificate): string {
  const lines = certificate.raw.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

/** The certificates a server sent, each before the one that issued it. */
export function readChain(leaf: DetailedPeerCertificate): X509Certificate[] {
  const chain: X509Certificate[] = [];
  const seen = new Set<DetailedPeerCertificate>();
  // The last one is its own issuer where it signed itself.
  for (
    let link: DetailedPeerCertificate | undefined = leaf;
    link?.raw !== undefined && !seen.has(link) && chain.length < MAX_LINKS;
    link = link.issuerCertificate
  ) {
    seen.add(link);
    const certificate = parseDer(link.raw);
    if (certificate === null) break;
    chain.push(certificate);
  }
  return chain;
}

/** The address that a certificate names for its issuer, the first of the web; null when it names none. */
export function issuerAddressOf(certificate: X509Certificate): string | null {
  for (const line of (certificate.infoAccess ?? '').split('\n')) {
    const value = /^CA Issuers - URI:(.+)$/.exec(line)?.[1];
    // Node quotes values that could be taken for more than one line.
    if (value === undefined || value.startsWith('"') || value.length > MAX_URL_CHARS) continue;
    if (!/^https?:/i.test(value) || !URL.canParse(value)) continue;
    const url = new URL(value);
    url.username = '';
    url.password = '';
    url.hash = '';
    return url.href;
  }
  return null;
}

function isSignedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  try {
    return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
  } catch {
    // A key of a kind that OpenSSL does not know.
    return false;
  }
}

/** Whether one certificate may issue others and has issued this one. */
export function hasIssued(issuer: X509Certificate, certificate: X509Certificate): boolean {
  return issuer.ca && isSignedBy(certificate, issuer);
}

/**
 * Whether it names itself as its issuer. Asked by OpenSSL's comparison of names, which takes "X" and "x " for the same:
 * what it holds to be self-signed is a root to it wherever it finds it.
 */
export function isSelfIssued(certificate: X509Certificate): boolean {
  return certificate.subject === certificate.issuer || certificate.checkIssued(certificate);
}

/** Whether its time has begun and not ended. */
export function isInForce(certificate: X509Certificate): boolean {
  const at = Date.now();
  return Date.parse(certificate.validFrom) <= at && at <= Date.parse(certificate.validTo);
}
