/** Links into Temporal's Web UI, for a person who is to look there. */

export type WebUi = NonNullable<ReturnType<typeof webUiAt>>;

/** @param url of the Web UI, as the setting `TEMPORAL_UI_URL` has it; undefined: nothing is linked */
export function webUiAt(url: string | undefined, namespace: string) {
  if (url === undefined) return undefined;
  const base = `${url.replace(/\/+$/, '')}/namespaces/${encodeURIComponent(namespace)}/workflows`;
  return {
    /** The page of one run. A workflow id of ours has a slash in it, which has to stay one segment. */
    run: ({ workflowId, runId }: { workflowId: string; runId: string }) =>
      `${base}/${encodeURIComponent(workflowId)}/${encodeURIComponent(runId)}`,
    /** The list, filtered. */
    list: (query: string) => `${base}?query=${encodeURIComponent(query)}`,
  };
}
