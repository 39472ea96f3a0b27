package webhook_test

import (
	"errors"
	"testing"

	"github.com/seed889630bf/lastword/actors/webhook"
)

func TestFileSaysAllThatIsWrong(t *testing.T) {
	const text = `webhooks:
  - name: first
    url: bad
    secret: [good, swordfish]
    kinds: [run.failed, text.delta]
    jobs: [generate, knit]
  - {name: first, url: fine, secret: good, alow_private: true}
  - {name: callback, url: fine, secret: good}
  - {name: Second, secret: good}
`
	checks := webhook.Checks{Jobs: []string{"generate"},
		URL: func(t webhook.Target) error {
			if t.URL != "fine" {
				return errors.New("this is no URL")
			}
			return nil
		},
		Secret: func(s string) error {
			if s != "good" {
				return errors.New("this is no secret")
			}
			return nil
		}}
	_, err := webhook.Read([]byte(text), checks)
	const want = `3:10: this is no URL
4:13: this is no secret
5:25: no event of kind text.delta is delivered; there are run.queued, run.started, run.recovered, run.canceling, run.completed, run.failed, run.canceled, task.started, task.completed, task.failed, task.restarted, text.done, text.closed, thought.done, llm.started, llm.completed, tool.started, tool.completed, artifact.partial, artifact.written, input.required, input.received, step.kept, child.started, child.ended, step.started, step.ended, fault.injected
6:22: there is no job knit; there are generate
7:12: there is a webhook first already
7:58: there is no field alow_private here; did you mean allow_private?
8:12: there is a webhook callback already
9:5: url is missing
9:12: "Second" is no name of a webhook: lower-case letters, digits, - and _`
	if err == nil || err.Error() != want {
		t.Errorf("wrong:\n%v\nwant\n%s", err, want)
	}
	good, err := webhook.Read([]byte("webhooks: [{name: a, url: fine, secret: good}, {name: b, url: fine, secret: [good, good], allow_private: true}]"), checks)
	if err != nil || len(good) != 2 || len(good[0].Secrets) != 1 || len(good[1].Secrets) != 2 || !good[1].AllowPrivate {
		t.Errorf("%+v, %v", good, err)
	}
}
