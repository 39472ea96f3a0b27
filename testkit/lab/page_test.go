package lab_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/server"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
	api "github.com/seed889630bf/lastword/transport/http"
	"github.com/seed889630bf/lastword/transport/sqlite"
	pageweb "github.com/seed889630bf/lastword/transport/web"
)

// TestPage is make page: node --test drives Chromium, which uses the page of servers that the cases start, kill and
// start again. LASTWORD_PAGE is a pattern of the cases' names.
func TestPage(t *testing.T) {
	cases := os.Getenv("LASTWORD_PAGE")
	if cases == "" {
		t.Skip("make page runs this")
	}
	dir := npmInstall(t, "page")
	source, err := filepath.Abs(filepath.Join(root, "transport", "web", "page"))
	must(t, err)
	t.Run("types", func(t *testing.T) { checkTypes(t, dir, source) })
	tests, err := filepath.Glob(filepath.Join("testdata", "page", "npm", "*.test.mjs"))
	must(t, err)
	args := []string{"--test", "--test-concurrency=1", "--test-reporter=spec", "--test-name-pattern=" + cases}
	for _, file := range tests {
		args = append(args, filepath.Base(file))
	}
	cmd := exec.CommandContext(t.Context(), "node", args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, os.Stdout, os.Stderr
	shots := t.TempDir()
	if cases == "pictures" { // they show the time of day: other runs leave those that were looked at
		shots, err = filepath.Abs(filepath.Join(root, "docs", "page"))
		must(t, err)
	}
	self, err := os.Executable()
	must(t, err)
	card, err := filepath.Abs(filepath.Join(root, "transport", "mcp", "card", "run.html"))
	must(t, err)
	cmd.Env = append(os.Environ(), "CARD="+card, "SERVER="+self, "SERVER_SETUP="+pageServer, "SHOTS="+shots)
	must(t, cmd.Run())
}

// checkTypes has TypeScript's compiler check the page's source: esbuild ignores types.
func checkTypes(t *testing.T, dir, source string) {
	modules := filepath.Join(dir, "node_modules")
	config, err := json.Marshal(map[string]any{
		"extends": filepath.Join(source, "tsconfig.json"),
		"include": []string{filepath.Join(source, "**", "*.ts"), filepath.Join(source, "**", "*.tsx")},
		"compilerOptions": map[string]any{"paths": map[string][]string{
			"preact":             {filepath.Join(modules, "preact", "src", "index.d.ts")},
			"preact/hooks":       {filepath.Join(modules, "preact", "hooks", "src", "index.d.ts")},
			"preact/jsx-runtime": {filepath.Join(modules, "preact", "jsx-runtime", "src", "index.d.ts")},
			"@preact/*":          {filepath.Join(modules, "@preact", "*")},
			"marked":             {filepath.Join(modules, "marked")},
		}},
	})
	must(t, err)
	file := filepath.Join(dir, "tsconfig.json")
	writeFile(t, file, config)
	out, err := exec.CommandContext(t.Context(), filepath.Join(modules, ".bin", "tsc"), "-p", file).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// pageServer makes the test's binary a server of the page, whose jobs do what their input says. Its value is a
// pageSetup as JSON.
const pageServer = "LASTWORD_PAGE_SERVER"

type pageSetup struct {
	Listen string // host:port
	Folder string // of the journal and the files
	Tokens string // file of tokens; "" asks for none
}

func servePage(setup string) error {
	var at pageSetup
	if err := json.Unmarshal([]byte(setup), &at); err != nil {
		return err
	}
	journal, err := sqlite.Open(filepath.Join(at.Folder, "state"))
	if err != nil {
		return err
	}
	files, err := os.OpenRoot(at.Folder)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var plays []actors.Definition
	with := door.Config{Version: "test", Open: func(_ context.Context, _ messages.State, a messages.Artifact) (io.ReadSeekCloser, error) {
		return files.Open(a.Path)
	}}
	for _, name := range []string{"generate", "prompt", "play", "plan", "chat"} {
		plays = append(plays, player(name, files))
		with.Jobs = append(with.Jobs, messages.JobInfo{Name: name, JobSpec: messages.JobSpec{Description: "Plays what its input says",
			Input: func() json.RawMessage { return json.RawMessage(playSchema) }}})
	}
	system, err := actors.New(ctx, actors.Config{Journal: journal, Jobs: plays, MaxRunsPerPrincipal: 2000, MaxRuns: 2000,
		Drain: time.Second})
	if err != nil {
		return err
	}
	with.Runs = system
	config := auth.Config{Listen: at.Listen, Rate: -1}
	if at.Tokens != "" {
		if config.Tokens, err = auth.LoadTokens(at.Tokens); err != nil {
			return err
		}
	}
	entrance, err := auth.New(config)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/v1/", entrance.Wrap(api.New(door.New(with))))
	mux.Handle("POST /schedules", entrance.Wrap(http.HandlerFunc((&playSchedules{Paused: true}).serve)))
	for _, path := range pageweb.Paths() {
		mux.Handle(path, entrance.Public(pageweb.Handler(at.Tokens != "")))
	}
	listener, err := net.Listen("tcp", at.Listen)
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", listener.Addr())
	closed := make(chan error, 1)
	context.AfterFunc(ctx, func() { closed <- system.Close(ctx) })
	return errors.Join(server.Serve(ctx, listener, mux, server.Limits{Drain: time.Second}), <-closed, journal.Close())
}

// playSchedules is one schedule, which can be paused, resumed and run.
type playSchedules struct {
	Paused bool
	Runs   int
}

func (p *playSchedules) serve(w http.ResponseWriter, r *http.Request) {
	var order struct{ Action, Name string }
	_ = json.NewDecoder(r.Body).Decode(&order)
	switch order.Action {
	case "pause", "resume":
		p.Paused = order.Action == "pause"
	case "run":
		p.Runs++
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `[{"name":"nightly","job":"generate","when":"0 6 * * * Europe/Berlin","next":"2031-01-02T06:00:00+01:00",
		"last":"2026-11-28T06:00:00+01:00","run":"r_last","status":"failed","paused":%v,"dropped":%d,"note":"the run before still works"}]`, p.Paused, p.Runs)
}

// playSchema describes the input of the jobs, with a field of each kind that forms know.
const playSchema = `{"type":"object","required":["title"],"properties":{
	"title":{"type":"string","description":"What the run is about","minLength":1},
	"words":{"type":"integer","description":"How many words to say","minimum":0,"maximum":100000,"default":10},
	"mood":{"type":"string","enum":["calm","loud"],"description":"How to say them"},
	"ask":{"type":"boolean","description":"Ask before the end"},
	"names":{"type":"array","items":{"type":"string"},"description":"Who is greeted"},
	"day":{"type":"string","format":"date"},"at":{"type":"string","format":"date-time"},
	"note":{"anyOf":[{"type":"string"},{"type":"object"}],"description":"What else there is to say"},
	"tasks":{"type":"array","description":"Tasks, each with steps","items":{"type":"object"}}}}`

// playInput is the input of the jobs. Without tasks a run says so many words and, if told so, asks a question.
type playInput struct {
	Title string     `json:"title"`
	Words int        `json:"words,omitempty"`
	Mood  string     `json:"mood,omitempty"`
	Ask   bool       `json:"ask,omitempty"`
	Names []string   `json:"names,omitempty"`
	Note  any        `json:"note,omitempty"`
	Tasks []playTask `json:"tasks,omitempty"`
	Again bool       `json:"again,omitempty"` // another server starts the run again
	Day   string     `json:"day,omitempty"`
	At    string     `json:"at,omitempty"`
	// Message, Context and Earlier belong to a chat.
	Message string `json:"message,omitempty"`
	Context string `json:"context,omitempty"`
	Earlier any    `json:"earlier,omitempty"`
	// Plan is drawn for a run of the job plan; its tasks say which steps began and ended.
	Plan json.RawMessage `json:"plan,omitempty"`
}

type playTask struct {
	Name  string     `json:"name"`
	Steps []playStep `json:"steps,omitempty"`
	Tries int        `json:"tries,omitempty"` // attempts in all; with more than one, crashes are retried too
}

// playStep is what a task does next. Times repeats it.
type playStep struct {
	Do      string          `json:"do"`
	Text    string          `json:"text,omitempty"`
	Name    string          `json:"name,omitempty"` // of a text or a file
	Times   int             `json:"times,omitempty"`
	MS      int             `json:"ms,omitempty"`      // of a pause after each time
	Attempt int             `json:"attempt,omitempty"` // the only one; 0 is every
	Done    int64           `json:"done,omitempty"`
	Total   int64           `json:"total,omitempty"`
	Payload json.RawMessage `json:"payload,omitempty"` // of emit and ask
	Child   *playInput      `json:"child,omitempty"`
}

// player makes runs of the job.
func player(name string, files *os.Root) actors.Definition {
	make := actors.Definition{Name: name}
	make.New = func(input json.RawMessage) (actors.Job, error) {
		var in playInput
		if err := json.Unmarshal(input, &in); err != nil {
			return actors.Job{}, messages.InvalidInput("the input cannot be read: %v", err)
		}
		job := actors.Job{Name: name, Input: in, Restart: in.Again, Conversation: in.Context}
		tasks := in.Tasks
		if len(tasks) == 0 {
			steps := []playStep{{Do: "say", Name: "answer", Text: "word ", Times: in.Words}}
			if in.Words == 0 {
				steps = nil
			}
			if in.Ask {
				steps = append(steps, playStep{Do: "ask", Payload: json.RawMessage(`{"request":"sure","prompt":"Are you sure?"}`)})
			}
			tasks = []playTask{{Name: "tell", Steps: steps}}
		}
		for _, task := range tasks {
			job.Tasks = append(job.Tasks, actors.Task{Name: task.Name,
				Policy: supervision.Policy{Attempts: task.Tries, RetryCrash: task.Tries > 1},
				Run: func(ctx context.Context, t *actors.TaskContext) error {
					for _, step := range task.Steps {
						for range max(step.Times, 1) {
							if step.Attempt != 0 && step.Attempt != t.Attempt() {
								continue
							}
							if err := step.play(ctx, t, files, make); err != nil {
								return err
							}
						}
					}
					return nil
				}})
		}
		return job, nil
	}
	return make
}

func (s playStep) play(ctx context.Context, t *actors.TaskContext, files *os.Root, make actors.Definition) error {
	var err error
	switch s.Do {
	case "say":
		err = t.AppendText(s.Name, s.Text)
	case "said":
		err = t.FinishText(s.Name, s.Text)
	case "log":
		err = t.Log(messages.LogInfo, s.Text)
	case "progress":
		err = t.Progress(s.Done, s.Total, s.Name)
	case "emit":
		var e messages.Event
		if err = json.Unmarshal(fmt.Appendf(nil, `{"run_id":"r_x","seq":1,"ts":"2026-01-01T00:00:00Z","type":%q,"payload":%s}`, s.Name, s.Payload), &e); err == nil {
			err = t.Emit(e.Body, s.Text)
		}
	case "ask":
		var in messages.InputRequired
		if err = json.Unmarshal(s.Payload, &in); err == nil && s.Name == "beside" { // the steps after it
			t.Go(func(ctx context.Context) error { _, err := t.Ask(ctx, in); return err })
		} else if err == nil {
			var got json.RawMessage
			if got, err = t.Ask(ctx, in); err == nil {
				err = t.Result(got, false)
			}
		}
	case "file":
		path := string(t.RunID()) + "-" + strings.ReplaceAll(s.Name, "/", "_")
		if err = files.WriteFile(path, []byte(s.Text), 0o600); err == nil {
			err = t.Emit(messages.ArtifactWritten{Artifact: messages.Artifact{Name: s.Name, Path: path,
				Bytes: int64(len(s.Text)), SHA256: messages.Digest(s.Text)}}, "wrote "+s.Name)
		}
	case "child":
		err = s.child(ctx, t, make)
	case "result":
		err = t.Result(s.Payload, false)
	case "fail":
		err = errors.New(s.Text)
	case "retry":
		err = supervision.RetryAfter(time.Duration(s.MS)*time.Millisecond, errors.New(s.Text))
	case "panic":
		panic(s.Text)
	case "hang":
		<-ctx.Done()
		err = context.Cause(ctx)
	case "stay": // for so long after a cancel
		<-ctx.Done()
		<-time.After(time.Duration(s.MS) * time.Millisecond)
		err = context.Cause(ctx)
	case "sleep":
	default:
		err = messages.InvalidInput("there is no step %q", s.Do)
	}
	if err == nil && s.MS > 0 {
		select {
		case <-time.After(time.Duration(s.MS) * time.Millisecond):
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	return err
}

func (s playStep) child(ctx context.Context, t *actors.TaskContext, make actors.Definition) error {
	input, err := json.Marshal(s.Child)
	if err != nil {
		return err
	}
	job, err := make.New(input)
	if err != nil {
		return err
	}
	run, err := t.Start(ctx, job, actors.Options{Key: s.Child.Title})
	if err != nil {
		return err
	}
	_, err = run.Wait(ctx)
	return err
}
