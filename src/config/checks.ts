import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';

export function isCertificate(pem: string | Uint8Array): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

export function isKeyPair(cert: string | Buffer, key: string | Buffer): boolean {
  try {
    createSecureContext({ cert, key });
    return true;
  } catch {
    return false;
  }
}

export function isLoopback(hostname: string): boolean {
  return ['localhost', '[::1]', '::1'].includes(hostname) || /^127(\.\d{1,3}){3}$/.test(hostname);
}
