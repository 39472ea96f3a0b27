package host

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/cmd/internal/build"
	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/internal/telemetry"
)

// newObserver returns the observer for metrics and, if OpenTelemetry's variables name a collector, traces. The
// functions are called when the metrics are read.
func (f *Flags) newObserver(system func() actors.Stats, readers, ready func() float64, left func() map[string]float64) *telemetry.Observer {
	env := f.Env()
	stat := func(help string, read func(actors.Stats) float64) telemetry.Gauge {
		return telemetry.Gauge{Help: help, Read: func() float64 { return read(system()) }}
	}
	return telemetry.New(telemetry.Config{
		Service: cmp.Or(env.Get("OTEL_SERVICE_NAME"), "lastword"), Version: build.This().Full(),
		Collector: collector(env), Headers: collectorHeaders(env),
		Gauges: map[string]telemetry.Gauge{
			"ready":           {Help: "1 while runs can start, 0 while the journal takes nothing or the server stops.", Read: ready},
			"runs_active":     stat("Runs that have not ended.", func(s actors.Stats) float64 { return float64(s.Active) }),
			"runs_waiting":    stat("Runs that wait for people.", func(s actors.Stats) float64 { return float64(s.Waiting) }),
			"runs_set_aside":  stat("Runs whose logs are broken.", func(s actors.Stats) float64 { return float64(len(s.SetAside)) }),
			"runs_fenced":     stat("Runs that another node took over.", func(s actors.Stats) float64 { return float64(s.Fenced) }),
			"journal_retries": stat("Appends that were tried again.", func(s actors.Stats) float64 { return float64(s.JournalRetries) }),
			"http_readers":    {Help: "Streams and subscriptions of the HTTP API.", Read: readers},
			"events_refused":  stat("Events that were not legal.", func(s actors.Stats) float64 { return float64(s.RefusedEvents) }),
			"sessions_local": {Help: "1 if sessions hold at this node of several alone.", Read: func() float64 {
				return map[bool]float64{true: 1}[f.localSessions()]
			}},
			"model_tokens_left": {Help: "Tokens of models that each principal who has used some may still use today (UTC).", Each: left},
			"tasks_abandoned":   stat("Tasks that did not heed their cancel.", func(s actors.Stats) float64 { return float64(s.AbandonedTasks) }),
			"actors_abandoned":  stat("Actors that did not stop.", func(s actors.Stats) float64 { return float64(s.AbandonedActors) }),
		},
	})
}

// collector returns the URL that traces are sent to, or "".
func collector(env environment.Variables) string {
	if address := env.Get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"); address != "" {
		return address
	}
	if address := env.Get("OTEL_EXPORTER_OTLP_ENDPOINT"); address != "" {
		return strings.TrimRight(address, "/") + "/v1/traces"
	}
	return ""
}

// collectorHeaders parses OpenTelemetry's variable for headers: name=value pairs, percent-encoded and separated by
// commas.
func collectorHeaders(env environment.Variables) map[string]string {
	headers := map[string]string{}
	for pair := range strings.SplitSeq(env.Get("OTEL_EXPORTER_OTLP_HEADERS"), ",") {
		name, value, found := strings.Cut(strings.TrimSpace(pair), "=")
		if plain, err := url.QueryUnescape(value); found && err == nil {
			headers[name] = plain
		}
	}
	return headers
}
