package telemetry

import (
	"cmp"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/seed889630bf/lastword/internal/dial"
	"github.com/seed889630bf/lastword/messages"
)

// Config configures an Observer.
type Config struct {
	// Gauges are current values by the name of the metric, for example the number of readers. Each is read when the
	// metrics are requested.
	Gauges map[string]Gauge
	// Collector is the URL that receives traces, for example http://127.0.0.1:4318/v1/traces; "" sends none.
	Collector string
	// Headers are sent to the collector.
	Headers map[string]string
	// Service is the name of this program in traces, Version its version.
	Service, Version string
}

// Gauge is a current value, with one sentence that explains it.
type Gauge struct {
	Help string
	Read func() float64
	// Each returns the values by principal, in place of Read.
	Each func() map[string]float64
}

// perPrincipal collects a gauge that has a value for each principal.
type perPrincipal struct {
	of   *prometheus.Desc
	each func() map[string]float64
}

// Describe tells the registry the metric's name and labels.
func (p perPrincipal) Describe(to chan<- *prometheus.Desc) { to <- p.of }

// Collect reads the values.
func (p perPrincipal) Collect(to chan<- prometheus.Metric) {
	for principal, v := range p.each() {
		to <- prometheus.MustNewConstMetric(p.of, prometheus.GaugeValue, v, principal)
	}
}

// Observer derives metrics and traces from milestones. It is safe for concurrent use; mu guards the fields below it.
type Observer struct {
	handler  http.Handler
	metrics  metrics
	exporter *exporter // nil without a collector

	mu     sync.Mutex
	runs   map[messages.RunID]*run // runs that have not ended
	models map[string]bool         // models that have their own metrics
}

// mostModels limits the number of metrics, because callers may ask for models of any name.
const mostModels = 100

// run is what the observer knows about a run in progress.
type run struct {
	id             messages.RunID
	job, principal string
	at             messages.Trace   // the trace context that its calls inherit
	open           map[string]*span // open spans, by what they are of
}

// metrics holds the metrics. New registers them, and documents each.
type metrics struct {
	started, ended, tasks, restarts, tokens, cost, budgets, tools, requests *prometheus.CounterVec
	durations, visible, lag                                                 *prometheus.HistogramVec
	usage, asked, firstChunk                                                *prometheus.HistogramVec
	inFlight                                                                prometheus.Gauge
}

// New returns an Observer. Close it after the runtime.
func New(c Config) *Observer {
	registry := prometheus.NewRegistry()
	add := promauto.With(registry)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return add.NewCounterVec(prometheus.CounterOpts{Name: "lastword_" + name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return add.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}
	asked := []string{"gen_ai_operation_name", "gen_ai_provider_name", "gen_ai_request_model"}
	seconds := prometheus.ExponentialBuckets(0.005, 4, 10)
	o := &Observer{handler: promhttp.HandlerFor(registry, promhttp.HandlerOpts{}), runs: map[messages.RunID]*run{}, models: map[string]bool{}, metrics: metrics{
		started:   counter("runs_started_total", "Runs that were queued.", "job"),
		ended:     counter("runs_ended_total", "Runs that have their terminal.", "job", "status", "cause"),
		tasks:     counter("task_failures_total", "Attempts of tasks that failed.", "job", "cause"),
		restarts:  counter("task_restarts_total", "Tasks that were started again.", "job"),
		tokens:    counter("model_tokens_total", "Tokens that models read and wrote.", "principal", "direction"),
		cost:      counter("model_cost_usd_total", "What model calls cost, by the operator's prices.", "principal", "job"),
		budgets:   counter("budget_warnings_total", "Warnings that a run has spent 80 % of a unit of its budget.", "job", "unit"),
		tools:     counter("tool_calls_total", "Tool calls that have ended.", "job"),
		requests:  counter("http_requests_total", "Requests that were answered.", "method", "route", "status"),
		durations: histogram("lastword_run_duration_seconds", "From run.queued to the terminal.", seconds, "job", "status"),
		usage: histogram("gen_ai_client_token_usage", "Tokens of a model call.", prometheus.ExponentialBuckets(1, 4, 14),
			append(asked, "gen_ai_token_type")...),
		asked: histogram("gen_ai_client_operation_duration_seconds", "From a model call's start to its end.",
			prometheus.ExponentialBuckets(0.01, 2, 14), append(asked, "error_type")...),
		firstChunk: histogram("gen_ai_client_operation_time_to_first_chunk_seconds", "From a model call's start to its first token.",
			prometheus.ExponentialBuckets(0.01, 2, 14), asked...),
		visible: histogram("lastword_event_visible_seconds", "From a milestone's time until readers see it: the journal's latency.",
			prometheus.ExponentialBuckets(0.00005, 4, 10)),
		lag: histogram("lastword_reader_lag_seconds", "From an event's time until it is written to a reader that was there.",
			prometheus.ExponentialBuckets(0.00005, 4, 10)),
		inFlight: add.NewGauge(prometheus.GaugeOpts{Name: "lastword_http_requests_in_flight",
			Help: "Requests that are being answered, streams among them."}),
	}}
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for name, gauge := range c.Gauges {
		if gauge.Each != nil {
			registry.MustRegister(perPrincipal{prometheus.NewDesc("lastword_"+name, gauge.Help, []string{"principal"}, nil), gauge.Each})
			continue
		}
		add.NewGaugeFunc(prometheus.GaugeOpts{Name: "lastword_" + name, Help: gauge.Help}, gauge.Read)
	}
	if c.Collector != "" {
		o.exporter = &exporter{config: c, client: dial.Named(dial.NewTransport()), spans: make(chan span, maxSpans)}
		o.exporter.client.Timeout = sendTimeout
		o.exporter.done.Go(o.exporter.run)
		add.NewCounterFunc(prometheus.CounterOpts{Name: "lastword_spans_dropped_total", Help: "Spans that the collector did not take in time."},
			func() float64 { return float64(o.exporter.dropped.Load()) })
	}
	return o
}

// ServeHTTP serves the metrics to Prometheus.
func (o *Observer) ServeHTTP(w http.ResponseWriter, r *http.Request) { o.handler.ServeHTTP(w, r) }

// Lag records how late an event was written to a reader.
func (o *Observer) Lag(d time.Duration) { o.metrics.lag.WithLabelValues().Observe(d.Seconds()) }

// Close sends the spans that are waiting.
func (o *Observer) Close() {
	if o.exporter != nil {
		close(o.exporter.spans)
		o.exporter.done.Wait()
	}
}

// Observe records a milestone that has become visible to readers. The milestones of one run must come in order. It does
// not block.
func (o *Observer) Observe(e messages.Event) {
	o.metrics.visible.WithLabelValues().Observe(time.Since(e.Time).Seconds())
	o.mu.Lock()
	defer o.mu.Unlock()
	if b, ok := e.Body.(messages.RunQueued); ok {
		o.runs[e.RunID] = queued(e, b, o.runs[b.Parent])
		o.metrics.started.WithLabelValues(b.Job).Inc()
		return
	}
	r := o.runs[e.RunID]
	if r == nil {
		return // another process queued the run
	}
	ended := r.trace(e)
	o.count(r, e, ended)
	if o.exporter != nil && ended != nil {
		o.exporter.send(*ended)
	}
	if e.IsTerminal() {
		delete(o.runs, e.RunID)
	}
}

// count counts an event of the log. ended is the span that it ends, or nil.
func (o *Observer) count(r *run, e messages.Event, ended *span) {
	m := o.metrics
	switch b := e.Body.(type) {
	case messages.TaskFailed:
		m.tasks.WithLabelValues(r.job, string(b.Cause)).Inc()
	case messages.TaskRestarted:
		m.restarts.WithLabelValues(r.job).Inc()
	case messages.ToolCompleted:
		m.tools.WithLabelValues(r.job).Inc()
	case messages.LLMCompleted:
		if ended != nil {
			o.answered(b, ended)
		}
		o.spent(r, b.Usage)
	case messages.UsageReported:
		if b.Call == "" {
			o.spent(r, &b.Usage)
		}
	case messages.BudgetWarning:
		m.budgets.WithLabelValues(r.job, b.Unit).Inc()
	case messages.RunCompleted:
		o.end(r, ended, messages.Completed, "")
	case messages.RunFailed:
		o.end(r, ended, messages.Failed, b.Cause)
	case messages.RunCanceled:
		o.end(r, ended, messages.Canceled, b.Cause)
	}
}

// spent counts the tokens and the cost of a model call, or of a report.
func (o *Observer) spent(r *run, u *messages.Usage) {
	if u == nil {
		return
	}
	read, written := u.Tokens()
	o.metrics.tokens.WithLabelValues(r.principal, "read").Add(float64(read))
	o.metrics.tokens.WithLabelValues(r.principal, "written").Add(float64(written))
	if u.Cost != nil {
		o.metrics.cost.WithLabelValues(r.principal, r.job).Add(max(u.Cost.Amount, 0))
	}
}

// answered records a model call under the names of OpenTelemetry's conventions, in the form of Prometheus.
func (o *Observer) answered(b messages.LLMCompleted, s *span) {
	model := cmp.Or(s.attributes["gen_ai.request.model"].(string), b.Model)
	if o.models[model] = o.models[model] || len(o.models) < mostModels; !o.models[model] {
		model = "other"
	}
	to := []string{"chat", s.attributes["gen_ai.provider.name"].(string), model}
	failure := s.attributes["error.type"].(string)
	o.metrics.asked.WithLabelValues(append(to, failure)...).Observe(s.ended.Sub(s.began).Seconds())
	if b.FirstTokenMS > 0 {
		o.metrics.firstChunk.WithLabelValues(to...).Observe(float64(b.FirstTokenMS) / 1000)
	}
	if u := b.Usage; u != nil {
		for kind, count := range map[string]*int64{"input": u.PromptTokens, "output": u.CompletionTokens} {
			if count != nil {
				o.metrics.usage.WithLabelValues(append(to, kind)...).Observe(float64(*count))
			}
		}
	}
}

func (o *Observer) end(r *run, ended *span, status messages.Status, cause messages.Code) {
	o.metrics.ended.WithLabelValues(r.job, string(status), string(cause)).Inc()
	o.metrics.durations.WithLabelValues(r.job, string(status)).Observe(ended.ended.Sub(ended.began).Seconds())
}
