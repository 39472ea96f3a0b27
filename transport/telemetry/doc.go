// Package telemetry makes metrics and traces of runs for operators, from the milestones of the runs' logs alone.
//
// Give [Observer.Observe] to actors.Config.Observe. [Observer.ServeHTTP] answers with Prometheus metrics. Where [Config]
// names a collector, each run, attempt of a task, model call and tool call becomes an OpenTelemetry span, sent by OTLP
// over HTTP as JSON. [Observer.Requests] makes a span of each request. A run started with the label traceparent continues
// the caller's trace (W3C Trace Context), whose spans are left out if the caller does not keep it.
//
// Names and units are those of OpenTelemetry's semantic conventions for generative AI, and those of metrics are in the
// form of Prometheus. No span has what people and models say.
//
// Nothing here slows a run down: spans that the collector does not take in time are dropped and counted.
package telemetry
