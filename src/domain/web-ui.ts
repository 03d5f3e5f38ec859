/** Links into Temporal's Web UI, for a person who is to look there. */

export interface WebUi {
  /** The page of one run. */
  run: (run: { workflowId: string; runId: string }) => string;
  /** The list, filtered. */
  list: (query: string) => string;
}

/** @param url of the Web UI, as the setting `TEMPORAL_UI_URL` has it; undefined: nothing is linked */
export function webUiAt(url: string | undefined, namespace: string): WebUi | undefined {
  if (url === undefined) return undefined;
  const base = `${url.replace(/\/+$/, '')}/namespaces/${encodeURIComponent(namespace)}/workflows`;
  return {
    // A workflow id of ours has a slash in it, which has to stay one segment.
    run: ({ workflowId, runId }) => `${base}/${encodeURIComponent(workflowId)}/${encodeURIComponent(runId)}`,
    list: (query) => `${base}?query=${encodeURIComponent(query)}`,
  };
}
