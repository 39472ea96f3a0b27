//go:build linux

package command_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/command"
	"github.com/seed889630bf/lastword/messages"
)

// A value is never code: whoever reads it, and however that is started.
func TestValuesAreNoCode(t *testing.T) {
	const code, safe = "is code", "is none"
	for what, all := range map[string]string{code: `
		sh -c {x}; bash -ec {x}; /bin/dash -o pipefail -c {x}; bash --norc -c echo{x}; sh -c{x}; fish -c {x}; sh {x}; sh -- {x}
		env -S {x}; env -i PATH=/bin sh -c {x}; env {x}; env --split-string={x}; xargs -n 1 sh -c {x}; xargs {x}
		find . -name a -exec sh -c {x} ;; find . -exec {x} ;; ssh host {x}; ssh -p 22 host ls {x}; ssh -o {x} host; ssh {x} {x}
		su -c {x}; su bob -c {x}; su -lc {x} bob; sudo {x}; sudo -u bob sh -c {x}; sudo -u bob env A=1 python3 -c {x}
		python -c {x}; python3.12 -Ic {x}; python3 {x}; python -m {x}; node -e {x}; node --eval={x}; nodejs -pe {x}; node {x}; deno eval {x}
		perl -e {x}; perl -ne {x}; perl -e 1 -e {x}; perl -MFile::Copy=move -e {x}; ruby -e {x}; php -r {x}; php {x}; lua5.4 -e {x}
		awk {x}; awk -F : {x}; awk -f {x}; gawk -e {x}; sed {x}; sed -n {x}; sed s/{x}/b/; sed p -e {x}; sed --expression={x}
		make {x}; make A={x}; make -f {x}; docker exec -it web sh -c {x}; docker exec {x} sh -c {x}; docker run --rm node node -e {x}
		kubectl exec pod -- sh -c {x}; timeout 5 {x}; timeout 5 bash -c {x}; nohup nice -n 5 sh -c {x}; busybox sh -c {x}; watch {x}
		cmd.exe /c {x}; C:\\Windows\\powershell.exe -Command {x}; setsid {x}; flock f -c {x}
		bash -euo pipefail -c {x}; bash +o posix -c {x}; ssh -lbob host {x}; gosu bob sh -c {x}; npx tsx -e {x}; script -qc {x}`,
		safe: `
		sh -c 1 sh {x}; sh script {x}; bash -o pipefail -c 1 bash --name={x}; env A={x} printenv; env -u B A={x} sh -c 1; xargs ls {x}
		find {x} -name {x}; find . -exec ls {x} ;; ssh {x}; ssh {x} uptime; ssh -p {x} host ls; su bob -c ls {x}; sudo ls {x}; sudo -u {x} ls
		python -c 1 {x}; python3 tool.py -c {x}; python -m http.server {x}; node -e 1 {x}; node tool.js -e {x}; perl -pe 1 {x}; perl tool -e {x}
		ruby tool {x}; php tool {x}; awk -v x={x} 1; awk -F {x} 1; awk 1 {x}; sed p {x}; sed -e p {x}; sed -n -f a {x}; deno run tool.ts {x}
		docker exec {x} ls; docker exec web ls {x}; timeout {x} ls; timeout 5 ls {x}; nice -n {x} ls; echo sh {x}; git log {x}`} {
		for line := range strings.FieldsFuncSeq(all, func(r rune) bool { return r == '\n' }) {
			for text := range strings.SplitSeq(line, "; ") {
				c := command.Command{Name: "it", Command: strings.Fields(strings.ReplaceAll(text, `"`, "")), Input: map[string]json.RawMessage{"x": json.RawMessage(`{"type":"string"}`)}}
				if len(c.Command) == 0 {
					continue
				}
				_, err := command.Define(c, command.Config{})
				if (err != nil) != (what == code) || err != nil && !strings.Contains(err.Error(), "{x} would be code for") {
					t.Errorf("the value of %q %s: %v", text, what, err)
				}
				c.Input["x"] = json.RawMessage(`{"enum":["a"],"type":"string"}`)
				if _, err := command.Define(c, command.Config{}); err != nil {
					t.Errorf("%q: %v", text, err)
				}
			}
		}
	}
}

// A value begins no option, alone or with others, unless the operator has said how it begins.
func TestValuesBeginNoOption(t *testing.T) {
	for schema, free := range map[string]bool{
		`"pattern":"^-?[a-z]*$"`: true, `"pattern":"^(-a|-b)"`: true, `"enum":["-a","","-b"]`: true, `"pattern":"^(a*)-b?"`: true,
		`"pattern":"^[a-z]*"`: false, `"pattern":"^(-*)*b$"`: true, `"pattern":"($*)*^-"`: true,
		`"minLength":0`: false, `"pattern":"^"`: false, `"pattern":"^.*$"`: false, `"pattern":"^[^/]*"`: false, `"pattern":"^a|-"`: false,
		`"pattern":"-"`: false, `"pattern":"^a*.*"`: false, `"pattern":"(?m)^-"`: false, `"pattern":"^(a|.)"`: false,
	} {
		s := start(t, command.Command{Command: []string{"echo", "{a}", "{b}{a}", "{b}-c", "x{a}"}, Input: map[string]json.RawMessage{
			"a": json.RawMessage(`{"type":"string",` + schema + `}`), "b": json.RawMessage(`{"type":"string","pattern":"^[a-z]*$"}`)}}, command.Config{})
		for input, fine := range map[string]bool{`{"a":"-b","b":"x"}`: free, `{"a":"-b","b":""}`: false} {
			_, err := s.system.Submit(t.Context(), messages.Request{Job: "it", Input: json.RawMessage(input)})
			if fine != (err == nil) {
				t.Errorf("%s with %s: %v", schema, input, err)
			}
		}
	}
	s := start(t, command.Command{Command: []string{"echo", "{b}{a}"}, Input: map[string]json.RawMessage{
		"a": json.RawMessage(`{"type":"string"}`), "b": json.RawMessage(`{"type":"string","enum":["","-","-x"]}`)}}, command.Config{})
	for input, fine := range map[string]bool{`{"a":"-b","b":""}`: false, `{"a":"-b","b":"-x"}`: true, `{"a":"b","b":"-"}`: false, `{"a":"","b":"-"}`: true} {
		if _, err := s.system.Submit(t.Context(), messages.Request{Job: "it", Input: json.RawMessage(input)}); fine != (err == nil) {
			t.Errorf("%s: %v", input, err)
		}
	}
}
