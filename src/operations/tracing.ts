/**
 * One trace per saga, over OTLP: from the start by a backend's client, through the run and its activities, to each call
 * of the provider. A run that was started without a trace begins one. This module is loaded only where traces are
 * wanted.
 *
 * ```text
 *   StartWorkflow:provisionServers      the backend's
 *     RunWorkflow:provisionServers      reported when the run has ended; its id is part of the run id
 *       RunActivity:placeOrder
 *         POST /order
 * ```
 *
 * Spans say what was done, when, and whether it succeeded. They have no arguments, no results and no error messages,
 * because those are encrypted elsewhere. No part of a trace is sent to the provider.
 */
import {
  context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
  type Span,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, RandomIdGenerator } from '@opentelemetry/sdk-trace-base';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import type { ActivityInboundCallsInterceptor, ActivityInterceptorsFactory, InjectedSinks } from '@temporalio/worker';
import { tryOr } from '../domain/ignore-errors';
import { traceHeader } from '../domain/tracing';
import type { CallEvent } from '../provider/client';
import type { TraceSinks } from '../workflows/trace-propagation';

export type Tracing = ReturnType<typeof startTracing>;

/** A stop waits no longer than this for the collector. */
const patienceMs = 3_000;

/** @param endpoint of a collector, as in `OTEL_EXPORTER_OTLP_ENDPOINT` */
export function startTracing(endpoint: string) {
  const url = `${endpoint.replace(/\/$/, '')}/v1/traces`;
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: patienceMs });
  const random = new RandomIdGenerator();
  /** Of the run whose span starts; its trace id counts only if that span begins a trace. */
  let given: ReturnType<typeof idsOf> | undefined;
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'order-saga-worker' }),
    spanProcessors: [new BatchSpanProcessor(exporter, { exportTimeoutMillis: patienceMs })],
    idGenerator: {
      generateTraceId: () => given?.traceId ?? random.generateTraceId(),
      generateSpanId: () => given?.spanId ?? random.generateSpanId(),
    },
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  // Only the trace is read of what a start brings along: no baggage.
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  const tracer = provider.getTracer('order-saga');

  const activity: ActivityInterceptorsFactory = ({ info: { activityType, workflowExecution } }) => {
    const { workflowId = '', runId = '' } = workflowExecution ?? {};
    const execute: ActivityInboundCallsInterceptor['execute'] = async (input, next) => {
      const parent = insideRun(runId, input.headers[traceHeader]);
      const span = tracer.startSpan(`RunActivity:${activityType}`, { attributes: { workflowId, runId } }, parent);
      try {
        const result = await context.with(trace.setSpan(parent, span), () => next(input));
        end(span, true);
        return result;
      } catch (error) {
        end(span, false);
        throw error;
      }
    };
    return { inbound: { execute } };
  };

  const sinks: InjectedSinks<TraceSinks> = {
    trace: {
      ended: {
        fn: ({ workflowType, workflowId, runId, startTime }, start, well) => {
          const options = { startTime, attributes: { workflowId, runId } };
          given = idsOf(runId);
          try {
            end(tracer.startSpan(`RunWorkflow:${workflowType}`, options, broughtBy(start)), well);
          } finally {
            given = undefined;
          }
        },
      },
    },
  };

  return {
    worker: { interceptors: { activity: [activity] }, sinks },
    onCall: ({ endpoint, status, failure, durationMs, sent }: CallEvent) => {
      const endTime = Date.now();
      const [method, template] = endpoint.split(' ');
      const attributes = {
        'http.request.method': method,
        'url.template': template,
        'order_saga.sent': sent,
        ...(status === undefined ? {} : { 'http.response.status_code': status }),
        ...(failure === undefined ? {} : { 'error.type': failure }),
      };
      // Reported when the call is over, in the activity that made it.
      const span = tracer.startSpan(endpoint, { kind: SpanKind.CLIENT, startTime: endTime - durationMs, attributes });
      end(span, failure === undefined, endTime);
    },
    /** Sends the remaining spans; those that the collector does not take are lost. */
    close: () => provider.shutdown().catch(() => undefined),
  };
}

function end(span: Span, well: boolean, endTime?: number): void {
  span.setStatus({ code: well ? SpanStatusCode.OK : SpanStatusCode.ERROR });
  span.end(endTime);
}

/** A run id has as many bytes as a trace id. Its random half is the id of the run's span. */
function idsOf(runId: string): { traceId: string; spanId: string } {
  const traceId = runId.replaceAll('-', '');
  return { traceId, spanId: traceId.slice(16) };
}

function insideRun(runId: string, start: Payload | undefined): Context {
  const { traceId, traceFlags } = trace.getSpanContext(broughtBy(start)) ?? {
    traceId: idsOf(runId).traceId,
    traceFlags: TraceFlags.SAMPLED,
  };
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId: idsOf(runId).spanId, traceFlags, isRemote: true });
}

/** The starter of a run sends the header. One that cannot be read is ignored. */
function broughtBy(start: Payload | undefined): Context {
  if (start === undefined) return ROOT_CONTEXT;
  return tryOr(() => propagation.extract(ROOT_CONTEXT, defaultPayloadConverter.fromPayload(start)), ROOT_CONTEXT);
}
