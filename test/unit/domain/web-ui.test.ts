import { webUiAt } from '../../../src/domain/web-ui';

it('a link names the run', () => {
  for (const url of ['https://ui.example', 'https://ui.example/']) {
    expect(webUiAt(url, 'a b')?.run({ workflowId: 'provision/A', runId: 'r' })).toBe(
      'https://ui.example/namespaces/a%20b/workflows/provision%2FA/r',
    );
  }
});
