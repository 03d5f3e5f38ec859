/** Which versions of Temporal's server sagas can run on, and which have known holes. */

const isBefore = (one: string, other: string) => one.localeCompare(other, 'en', { numeric: true }) < 0;

/** From this version on, updates (by which people decide) are enabled by default. */
const versionMin = '1.25';

/** @returns a sentence; undefined for a version that is new enough or unknown */
export function whyTooOld(serverVersion: string): string | undefined {
  if (!/^\d+\.\d+/.test(serverVersion) || !isBefore(serverVersion, versionMin)) return undefined;
  return `the Temporal server has version ${serverVersion}; sagas need ${versionMin} or later: upgrade it`;
}

/** The first releases of each line in which CVE-2026-16652 and CVE-2026-87858 are fixed; later lines have it all. */
const fixedIn = ['1.30.7', '1.31.3', '1.32.0'];

/** @returns a sentence; undefined for a version without a known hole, or an unknown one */
export function whyUnsafe(serverVersion: string): string | undefined {
  const [, line] = /^(1\.\d+\.)\d/.exec(serverVersion) ?? [];
  const fixed = fixedIn.find((version) => line !== undefined && version.startsWith(line)) ?? '1.32.0';
  if (line === undefined || !isBefore(serverVersion, fixed)) return undefined;
  return `the Temporal server has version ${serverVersion}, with CVE-2026-16652 and CVE-2026-87858: fixed in ${fixedIn.join(', ')}`;
}
