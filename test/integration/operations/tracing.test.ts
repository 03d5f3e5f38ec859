/**
 * What a worker tells of sagas: one trace from a backend's start to the calls of the provider, to a collector over HTTP,
 * and what is not in it; and in its log, while a saga goes through trouble, JSON with the saga on each line.
 */
import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { Client } from '@temporalio/client';
import { OpenTelemetryWorkflowClientInterceptor } from '@temporalio/interceptors-opentelemetry-v2';
import { startProcess, type RunningProcess } from '../../../scripts/processes';
import { OrderSagaClient } from '../../../src/client/client';
import { canariesOf, makeConfided, makeSecrets } from '../../system/canaries/secrets';
import { Search } from '../../system/canaries/search';
import { programOf } from '../../support/programs';
import { changeRequest, planIdOf, provisionRequest } from '../../support/requests';
import { Rig, until } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';
import { closeAll, serve } from '../../support/stand-in';

interface Attribute {
  key: string;
  value: Record<string, unknown>;
}
interface SentSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: Attribute[];
}
interface Traces {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: SentSpan[] }[] }[];
}
type Span = ReturnType<typeof spansIn>[number];

const valuesOf = (attributes: readonly Attribute[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
const spansIn = ({ resourceSpans }: Traces) =>
  resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .flatMap(({ spans }) => spans)
      .map((span) => ({
        ...span,
        attributes: valuesOf(span.attributes),
        service: valuesOf(resource.attributes)['service.name'],
      })),
  );

const secrets = makeSecrets();
const confided = makeConfided();

let rig: Rig;
/** It takes OTLP in JSON over HTTP. */
let collector: Awaited<ReturnType<typeof serve>>;
const spans = () => collector.seen.flatMap(({ body }) => spansIn(JSON.parse(body) as Traces));
let worker: RunningProcess;
let backend: OrderSagaClient;
let tracing: BasicTracerProvider;
beforeAll(async () => {
  rig = await Rig.start({ worker: false, sandbox: { token: secrets.token.text } });
  collector = await serve({ headers: { 'content-type': 'application/json' } });
  worker = await startProcess(programOf('worker'), {
    ...rig.environment,
    PROVIDER_TOKEN: secrets.token.text,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '100',
    LOG_LEVEL: 'debug',
  });
  // As docs/observing.md tells a backend to do it.
  tracing = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'backend' }),
    spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter({ url: `${collector.url}/v1/traces` }))],
  });
  trace.setGlobalTracerProvider(tracing);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  const { connection, options } = rig.temporal;
  const interceptors = { workflow: [new OpenTelemetryWorkflowClientInterceptor()] };
  backend = new OrderSagaClient(new Client({ connection, namespace: options.namespace, interceptors }));
}, 60_000);
afterAll(async () => {
  await worker.kill('SIGKILL');
  await closeAll();
  await tracing.shutdown();
  await rig.close();
});

const request = () => {
  const { password, keyBase64, scriptBase64 } = secrets;
  return provisionRequest({
    items: [{ password: password.text, custom_ssh_key: keyBase64, custom_script: scriptBase64 }],
  });
};

/** The spans of a saga's trace, by what they are called, each with the name of its parent. */
async function traceOf(workflowId: string, whole: (spans: Span[]) => boolean): Promise<[string, string | undefined][]> {
  const found = await until(async () => {
    const all = spans();
    const start = all.find(
      ({ name, attributes }) => name.startsWith('StartWorkflow:') && attributes['temporalWorkflowId'] === workflowId,
    );
    const ofIt = all.filter(({ traceId }) => traceId === start?.traceId);
    return whole(ofIt) && ofIt;
  });
  const nameOf = (id: string | undefined) => found.find(({ spanId }) => spanId === id)?.name;
  return found.map(({ name, parentSpanId }) => [name, nameOf(parentSpanId)]);
}

it('goes from the backend through workflow and activities to the provider', async () => {
  const saga = await backend.provision(request());
  await saga.result();
  const trace = await traceOf(saga.workflowId, (spans) =>
    spans.some(({ name }) => name === 'RunWorkflow:provisionServers'),
  );
  expect(Object.fromEntries(trace)).toEqual({
    'StartWorkflow:provisionServers': undefined,
    'RunWorkflow:provisionServers': 'StartWorkflow:provisionServers',
    'RunActivity:takeReference': 'RunWorkflow:provisionServers',
    'RunActivity:addCartItem': 'RunWorkflow:provisionServers',
    'POST /order/add-to-cart': 'RunActivity:addCartItem',
    'RunActivity:placeOrder': 'RunWorkflow:provisionServers',
    'POST /order': 'RunActivity:placeOrder',
    'RunActivity:writeEnding': 'RunWorkflow:provisionServers',
  });
  expect(spans().find(({ name }) => name === 'POST /order')).toMatchObject({
    service: 'order-saga-worker',
    attributes: { 'http.request.method': 'POST', 'url.template': '/order', 'http.response.status_code': 200 },
  });
});

it('names no secret, and nothing that somebody said', async () => {
  const { text } = confided;
  const stuck = await backend.provision(request());
  const unplaced = await backend.change(changeRequest({ approval: 'always' }));
  await untilWaiting(unplaced, 'approval');
  await answer(unplaced, 'reject', { by: text, reason: text });
  expect((await outcomeOf(unplaced)).failure?.report.why).toContain(text);
  await stuck.result();
  await traceOf(unplaced.workflowId, (spans) => spans.some(({ name }) => name === 'RunWorkflow:changeOrder'));
  expect(
    new Search([...canariesOf(secrets), confided]).in(Buffer.from(collector.seen.map(({ body }) => body).join())),
  ).toEqual([]);
});

describe('the log of a saga that goes through trouble', () => {
  type Line = Record<string, unknown> & { msg: string };
  let lines: Line[];
  let reference: string;
  let run: string;
  beforeAll(async () => {
    const troubled = provisionRequest();
    ({ reference } = troubled);
    const match = { planId: planIdOf(reference) };
    rig.sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'unauthorized', match });
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'error-before', match });
    const saga = await rig.sagas.provision(troubled);
    await untilWaiting(saga, 'stuck');
    await answer(saga, 'retry', { by: 'somebody' });
    await untilWaiting(saga, 'outcome-unknown');
    await saga.cancel();
    await outcomeOf(saga);
    ({ runId: run } = await rig.runOf(saga).describe());
    // Its end is in the log when it has ended.
    await worker.kill('SIGTERM');
    const text = worker.errors().trim().split('\n');
    lines = text.map((line) => JSON.parse(line) as Line);
  });

  /** Whether a call that tells receivers is under way at the end is a matter of moments. */
  const isOfMoments = ({ msg }: Line) => msg === 'notifications are not handed over yet';

  const ofTheSaga = () =>
    lines
      .filter((line) => !isOfMoments(line))
      .filter((line) => JSON.stringify(line).includes(reference) || JSON.stringify(line).includes(run));

  it('names reference, workflow and run on each line of a saga, and what it is about', () => {
    expect(ofTheSaga().length).toBeGreaterThan(8);
    for (const line of ofTheSaga()) {
      expect(line).toMatchObject({ reference, workflow: 'provisionServers', run });
    }
    const aboutTheRun = ofTheSaga().filter(({ step, activity }) => step === undefined && activity === undefined);
    expect(new Set(aboutTheRun.map(({ msg }) => msg))).toEqual(
      new Set(['Workflow started', 'the saga has ended', 'Workflow completed as cancelled']),
    );
  });

  it('tells the life of a saga', () => {
    const life = ofTheSaga().filter(({ component }) => component === 'workflow');
    expect(life.map(({ msg, step = '', outcome = '' }) => [msg, step, outcome].join(' | '))).toEqual([
      'a call failed | add-cart-item-1 | ',
      'waiting for a decision | add-cart-item-1 | ',
      'decision taken | add-cart-item-1 | ',
      'a call failed | place-order | ',
      'waiting for a decision | place-order | ',
      'the saga has ended |  | cancelled',
    ]);
  });
});
