import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** A certificate with its key, both PEM, and what is needed to sign others with it. */
export type Certificate = { key: string; cert: string; name: string; privateKey: KeyObject };

/** What a certificate says; everything has a default but the name. */
export type CertificateOptions = {
  /** Signs itself when nobody else does. */
  issuer?: Certificate;
  /** May sign others. */
  authority?: boolean;
  /** Where it says that its issuer's certificate is (RFC 5280 section 4.2.2.1). */
  issuerAt?: string;
  /** Writes the issuer's name in another way than the issuer does. */
  issuerName?: string;
  notBefore?: Date;
  notAfter?: Date;
};

function der(tag: number, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const length =
    body.length < 128
      ? Buffer.from([body.length])
      : body.length < 256
        ? Buffer.from([0x81, body.length])
        : Buffer.from([0x82, body.length >> 8, body.length & 0xff]);
  return Buffer.concat([Buffer.from([tag]), length, body]);
}

const SEQUENCE = 0x30;
const ECDSA_WITH_SHA256 = der(SEQUENCE, der(0x06, Buffer.from('2a8648ce3d040302', 'hex')));
const DAY_MS = 24 * 60 * 60 * 1000;

function utcTime(date: Date): Buffer {
  const digits = date.toISOString().replace(/[-:T]/g, '').slice(2, 14);
  return der(0x17, Buffer.from(`${digits}Z`));
}

function distinguishedName(name: string): Buffer {
  return der(
    SEQUENCE,
    der(0x31, der(SEQUENCE, der(0x06, Buffer.from('550403', 'hex')), der(0x0c, Buffer.from(name)))),
  );
}

function extension(oid: string, value: Buffer): Buffer {
  return der(SEQUENCE, der(0x06, Buffer.from(oid, 'hex')), der(0x04, value));
}

/** A certificate made for the test at hand: no private key has to be kept in the repository. */
export function createCertificate(name: string, options: CertificateOptions = {}): Certificate {
  const { issuer, authority = false, issuerAt, issuerName = issuer?.name ?? name } = options;
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { notBefore = new Date(Date.now() - DAY_MS), notAfter = new Date(Date.now() + DAY_MS) } = options;
  const extensions = [extension('551d11', der(SEQUENCE, der(0x82, Buffer.from(name))))];
  // RFC 5280 section 4.2.1.9: without it nobody believes what the certificate signs.
  if (authority) extensions.push(extension('551d13', der(SEQUENCE, der(0x01, Buffer.from([0xff])))));
  if (issuerAt !== undefined) {
    const method = der(0x06, Buffer.from('2b06010505073002', 'hex'));
    const place = der(0x86, Buffer.from(issuerAt));
    extensions.push(extension('2b06010505070101', der(SEQUENCE, der(SEQUENCE, method, place))));
  }
  const body = der(
    SEQUENCE,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    distinguishedName(issuerName),
    der(SEQUENCE, utcTime(notBefore), utcTime(notAfter)),
    distinguishedName(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(SEQUENCE, ...extensions)),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', body, issuer?.privateKey ?? privateKey)]);
  const certificate = der(SEQUENCE, body, ECDSA_WITH_SHA256, der(0x03, signature));
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
    name,
    privateKey,
  };
}

/** A certificate for one name that nobody but itself vouches for. */
export function createSelfSigned(name: string): { key: string; cert: string } {
  return createCertificate(name);
}
