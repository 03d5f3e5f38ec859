/** Which versions of Temporal's server sagas can run on, and which have known holes. */

/** From this version on, updates (by which people decide) are enabled by default. */
const versionMin = [1, 25] as const;

/** @returns a sentence; undefined for a version that is new enough or unknown */
export function whyTooOld(serverVersion: string): string | undefined {
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(serverVersion) ?? [];
  if (major === undefined) return undefined;
  const [majorMin, minorMin] = versionMin;
  if (Number(major) > majorMin || (Number(major) === majorMin && Number(minor) >= minorMin)) return undefined;
  return `the Temporal server has version ${serverVersion}; sagas need ${versionMin.join('.')} or later: upgrade it`;
}

/** The first releases of each line in which CVE-2026-16652 and CVE-2026-87858 are fixed; later lines have it all. */
const fixedIn = ['1.30.7', '1.31.3', '1.32.0'] as const;

/** @returns a sentence; undefined for a version without a known hole, or an unknown one */
export function whyUnsafe(serverVersion: string): string | undefined {
  const [, major, minor, patch] = /^(\d+)\.(\d+)\.(\d+)/.exec(serverVersion)?.map(Number) ?? [];
  if (major !== 1 || minor === undefined || patch === undefined) return undefined;
  const fixed = fixedIn.map((version) => version.split('.').map(Number));
  const isFixed =
    minor > (fixed.at(-1)?.[1] ?? 0) || fixed.some(([, line, first]) => line === minor && patch >= (first ?? 0));
  if (isFixed) return undefined;
  return `the Temporal server has version ${serverVersion}, with CVE-2026-16652 and CVE-2026-87858: fixed in ${fixedIn.join(', ')}`;
}
