// Package telemetry gives operators metrics and traces of runs. It derives all of them from the milestones in the runs'
// logs.
//
// Set actors.Config.Observe to [Observer.Observe]. [Observer.ServeHTTP] serves metrics to Prometheus. If [Config] names
// a collector, each run, attempt of a task, model call and tool call becomes an OpenTelemetry span, sent by OTLP over
// HTTP as JSON. [Observer.Requests] makes a span of each HTTP request. A run that was started with the label
// traceparent continues the caller's trace (W3C Trace Context). If the caller does not sample its trace, its spans are
// not sent.
//
// Names and units follow OpenTelemetry's semantic conventions for generative AI; metric names are spelled in
// Prometheus's style. Spans do not contain what people and models say.
//
// Nothing here slows a run down: spans that the collector does not accept in time are dropped and counted.
package telemetry
