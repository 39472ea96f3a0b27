package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/cmd/internal/trust"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

// verifier holds the flags of verify and what it has found.
type verifier struct {
	at          host.Remote
	all, asJSON bool
	heads       bool                 // print the ledger's head, or compare it with the heads in files
	keys        []string             // keys that may have signed, as the user gave them
	trusted     []string             // the same, or else the keys in the folder of trust; with NATS also the keys that these have signed
	from        map[string]time.Time // from when keys in NATS count
	files       string               // folder with the runs' files, or ""
	dir         string               // state folder, or what is said of the cluster
	nats, creds string               // the URL of NATS, and the file with the credentials
	report      journal.Report
}

func verifyCommand(p *host.Program) *cobra.Command {
	v := &verifier{at: host.Remote{Program: p}, report: journal.Report{Faults: []journal.Fault{}}}
	cmd := &cobra.Command{
		Use: "verify <run>... | <file>... | --all",
		Args: func(cmd *cobra.Command, args []string) error {
			if v.all = v.all || v.heads; !v.heads && v.all == (len(args) > 0) {
				return exit.BadUsage(cmd, errors.New("give the ids of runs, files with proofs, or --all"), "")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return v.run(cmd, args) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&v.all, "all", false, "check every run, and the database")
	flags.BoolVar(&v.heads, "heads", false, "check every run, and print the head of each ledger; or compare them with FILEs of earlier heads")
	flags.BoolVar(&v.asJSON, "json", false, "print JSON")
	flags.StringSliceVar(&v.keys, "key", nil, "public `keys`; one must have signed. lastword key prints them (default: the keys in the folder of trust)")
	flags.StringVar(&v.files, "files", "", "`folder` of the files that the runs wrote; verify compares them with the logs")
	flags.StringVar(&v.nats, "nats", "", "`URL` of NATS JetStream, which keeps the runs of several servers (default: the one of serve)")
	flags.StringVar(&v.creds, "nats-creds", "", "`file` with the credentials for --nats")
	v.at.AddFlags(flags, "`URL` of a server to ask, or unix:PATH")
	v.at.AddStateFlag(cmd)
	settings.FlagOnly(cmd.PersistentFlags(), "state")
	settings.FlagOnly(flags, "all", "heads", "json", "key", "files", "nats", "nats-creds")
	return cmd
}

// run checks the logs and prints the report. An argument that names a file is a proof, all others are runs.
func (v *verifier) run(cmd *cobra.Command, args []string) error {
	var runs, files, heads []string
	if v.heads {
		args, heads = nil, args
	}
	for _, arg := range args {
		if info, err := os.Stat(arg); err == nil && !info.IsDir() {
			files = append(files, arg)
		} else {
			runs = append(runs, arg)
		}
	}
	err := v.trust()
	if err == nil {
		err = v.readFiles(files)
	}
	if err == nil && (v.all || len(runs) > 0) && v.nats == "" && v.at.URL == "" && v.at.State == "" {
		err = v.ofServe(cmd)
	}
	switch remote := v.at.URL != "" && v.at.State == ""; {
	case err != nil || len(runs) == 0 && !v.all && v.nats == "":
	case v.nats != "" && (v.at.URL != "" || v.at.State != ""):
		err = exit.BadUsage(cmd, errors.New("--nats reads the runs of all servers: leave out --server and --state"), "")
	case v.nats != "":
		err = v.shared(cmd, runs)
	case remote && v.heads:
		err = exit.BadUsage(cmd, errors.New("--heads reads the ledgers of a store: give --state or --nats, and not --server"), "")
	case remote:
		err = v.remote(cmd, runs)
	default:
		err = v.folder(cmd, runs)
	}
	if err != nil {
		return err
	}
	for _, log := range v.report.Logs {
		v.compare(cmd, log)
	}
	for _, file := range heads {
		if err := v.held(file); err != nil {
			return exit.Misconfigured(err)
		}
	}
	if v.heads && len(heads) == 0 && !v.asJSON && len(v.report.Faults) == 0 && v.report.Ledger != nil {
		for _, h := range v.report.Ledger.Heads {
			fmt.Fprintf(cmd.OutOrStdout(), headLine, h.Entries, h.Head)
		}
		v.printTrust(cmd.ErrOrStderr()) // stdout is the file of heads
		return v.verdict()
	}
	return v.print(cmd)
}

func (v *verifier) fault(run messages.RunID, rule messages.Rule, format string, args ...any) {
	v.report.Faults = append(v.report.Faults, journal.Fault{Run: run, Rule: rule, Says: fmt.Sprintf(format, args...)})
}

// headLine is the form of a ledger's head: how many entries precede it, and the head.
const headLine = "lastword-ledger/1 %d %s\n"

// held checks that the ledger has had the heads in the file.
func (v *verifier) held(file string) error {
	text, err := regular.Read(file, regular.Small)
	for line := range strings.Lines(string(text)) {
		var entries uint64
		var head string
		if n, _ := fmt.Sscanf(line, headLine, &entries, &head); n != 2 {
			return fmt.Errorf("%s has a line that is no head of a ledger; lastword verify --heads prints them", file)
		}
		if l := v.report.Ledger; l == nil || !l.Holds(entries, head) {
			v.fault("", journal.RuleLedger, "the ledger has never had %d entries and the head %s, as %s says", entries, head, file)
		}
	}
	return err
}

// trust finds the keys to trust: the keys of --key, else all keys that the user's folder of trust ever had.
func (v *verifier) trust() error {
	v.trusted = v.keys
	if len(v.keys) > 0 {
		return nil
	}
	folder, err := trust.Find(v.at.Program.Env)
	if err == nil {
		v.trusted, err = folder.Public()
	}
	if err != nil && !errors.Is(err, trust.ErrNowhere) {
		return exit.Misconfigured(err)
	}
	return nil
}

// isTrusted reports whether keys to trust have signed all that was checked.
func (v *verifier) isTrusted() bool {
	l := v.report.Ledger
	signed := func(key []byte) bool {
		if l != nil { // a server enters its key when it has opened its ledger
			i := slices.IndexFunc(l.Keys, func(k []byte) bool { return string(k) == string(key) })
			if i >= 0 && l.First(i).Before(v.from[store.KeyText(key)].Add(-time.Minute)) {
				return false
			}
		}
		return slices.Contains(v.trusted, store.KeyText(key))
	}
	if v.dir != "" && (v.all || len(v.report.Removed) > 0) {
		if l == nil || l.Entries == 0 || l.Unsigned > 0 || l.Unentered > 0 {
			return false
		}
		if slices.ContainsFunc(l.Keys, func(key []byte) bool { return !signed(key) }) {
			return false
		}
	}
	return len(v.trusted) > 0 && len(v.report.Faults) == 0 && !slices.ContainsFunc(v.report.Logs, func(log journal.Log) bool { return !signed(log.Key) })
}

// readFiles checks proofs.
func (v *verifier) readFiles(names []string) error {
	for _, name := range names {
		f, _, err := regular.Open(name)
		if err == nil {
			err = errors.Join(v.proof(f), f.Close())
		}
		if err != nil {
			return exit.Misconfigured(err)
		}
	}
	return nil
}

// proof checks a proof. One of the keys that the user gave must have signed it.
func (v *verifier) proof(r io.Reader) error {
	log, events, err := journal.ReadProof(r)
	v.report.Runs++
	if fault, ok := errors.AsType[*journal.Fault](err); ok {
		v.report.Faults = append(v.report.Faults, *fault)
		return nil
	}
	if err != nil {
		return err
	}
	v.report.Events += events
	v.report.Logs = append(v.report.Logs, log)
	if len(v.keys) > 0 && !slices.Contains(v.keys, store.KeyText(log.Key)) {
		v.fault(log.Run, journal.RuleProof, "the key %s has signed it, which may not sign here", store.KeyText(log.Key))
	}
	return nil
}

// remote checks the proofs that a server returns.
func (v *verifier) remote(cmd *cobra.Command, runs []string) error {
	ctx := cmd.Context()
	c, err := v.at.Client()
	if err != nil {
		return err
	}
	var ids []messages.RunID
	if v.all {
		for s, failed := range every(ctx, c, messages.Query{Limit: 1000}) {
			ids, err = append(ids, s.RunID), cmp.Or(err, failed)
		}
	}
	for _, name := range runs {
		id, failed := runNamed(ctx, c, name)
		ids, err = append(ids, id), cmp.Or(err, failed)
	}
	for _, id := range ids {
		if err != nil {
			break
		}
		var body io.ReadCloser
		if body, err = c.Proof(ctx, id); err == nil {
			err = errors.Join(v.proof(body), body.Close())
		}
	}
	return v.at.Hinted(err)
}

// folder checks the logs in the state folder: the logs of the runs, or all logs if no run is given.
func (v *verifier) folder(cmd *cobra.Command, runs []string) (err error) {
	ctx := cmd.Context()
	if v.dir, err = stateFolder(cmd, v.at.Program, v.at.State, serveState); err != nil {
		return exit.Misconfigured(err)
	}
	var ids []messages.RunID
	if len(runs) > 0 {
		in, err := store.OpenStopped(v.at.Program.Env, v.dir)
		if err != nil {
			return exit.Misconfigured(err)
		}
		for _, name := range runs {
			id, failed := runNamed(ctx, in, name)
			ids, err = append(ids, id), cmp.Or(err, failed)
		}
		if err := errors.Join(err, in.Close()); err != nil {
			return err
		}
	}
	return v.add(store.Check(ctx, v.dir, ids...))
}

// shared checks what several servers keep in NATS. Keys that a trusted key has signed are trusted, too.
func (v *verifier) shared(cmd *cobra.Command, runs []string) error {
	v.dir = "NATS"
	ids := make([]messages.RunID, len(runs))
	for i, run := range runs {
		ids[i] = messages.RunID(run)
	}
	found, keys, err := store.CheckShared(cmd.Context(), v.nats, v.creds, v.at.Program.Secrets, ids...)
	v.from = keys.Trusted(v.trusted)
	v.trusted = slices.Collect(maps.Keys(v.from))
	return v.add(found, err)
}

// ofServe names the store of serve, by the settings.
func (v *verifier) ofServe(cmd *cobra.Command) error {
	p := v.at.Program
	s, err := settings.Load(cmd, p.Env, p.ConfigFile, nil, p.Secrets)
	if err == nil {
		v.nats, v.creds = s.Value("serve.nats"), cmp.Or(v.creds, s.Value("serve.nats-creds"))
		if v.nats == "" {
			v.at.State = cmp.Or(s.Value(serveState), p.Env.StateFolder())
		}
	}
	return err
}

// add adds what was found in a store.
func (v *verifier) add(found journal.Report, err error) error {
	if err != nil {
		return exit.Misconfigured(err)
	}
	found.Runs, found.Events = found.Runs+v.report.Runs, found.Events+v.report.Events
	found.Logs, found.Faults = append(v.report.Logs, found.Logs...), append(v.report.Faults, found.Faults...)
	v.report = found
	return nil
}

// compare compares the files of a run with its log.
func (v *verifier) compare(cmd *cobra.Command, log journal.Log) {
	if v.files == "" {
		return
	}
	for _, a := range log.Artifacts {
		root, err := regular.Root(v.files)
		if err == nil {
			var f *os.File
			if f, _, err = regular.OpenIn(root, cmp.Or(a.Path, a.Name)); err == nil {
				err = host.CheckFile(cmd.Context(), f, a)
				f.Close()
			}
			root.Close()
		}
		if err != nil {
			v.fault(log.Run, journal.RuleFile, "%s is not the file that the run wrote: %v", a.Name, exit.Reason(err))
		}
	}
}

// print prints a line for each log and each fault, or all as JSON.
func (v *verifier) print(cmd *cobra.Command) error {
	out, r := cmd.OutOrStdout(), &v.report
	if v.asJSON {
		if err := terminal.PrintJSON(out, struct {
			*journal.Report
			Trusted bool `json:"trusted"`
		}{r, v.isTrusted()}); err != nil {
			return err
		}
		return v.verdict()
	}
	for _, log := range r.Logs {
		line := fmt.Sprintf("%s: %s, chain %s", log.Run, summed(log), log.Chain)
		if log.Key != nil {
			line += ", signed by " + store.KeyText(log.Key)
		}
		fmt.Fprintln(out, line)
	}
	for _, gone := range r.Removed {
		fmt.Fprintf(out, "%s: somebody removed it at %s: %s, chain %s\n", gone.Run, gone.RemovedAt.Format(time.RFC3339), summed(gone.Log), gone.Chain)
	}
	whole := "the proof"
	if v.all {
		whole = "the database"
	}
	for _, f := range r.Faults {
		fmt.Fprintf(out, "%s: %s\n", terminal.Flat(cmp.Or(string(f.Run), whole)), terminal.Flat(f.Error()))
	}
	if len(r.Faults) == 0 {
		subject := "everything"
		if v.all && v.dir != "" {
			subject = v.dir
		}
		fmt.Fprintf(out, "%s is sound: %s, %s\n", subject, words.Count(int64(r.Runs), "run"), words.Count(int64(r.Events), "event"))
	}
	v.printTrust(out)
	return v.verdict()
}

func (v *verifier) printTrust(out io.Writer) {
	fmt.Fprintf(out, "trusted: %s\n", map[bool]string{true: "yes", false: "no"}[v.isTrusted()])
}

func summed(l journal.Log) string {
	return fmt.Sprintf("%s up to number %d", l.Status, l.Seq)
}

// verdict returns the error for the exit code. nil means that nothing is wrong.
func (v *verifier) verdict() error {
	n := len(v.report.Faults)
	if n == 0 {
		return v.untrusted()
	}
	says := fmt.Errorf("%s found", words.Count(int64(n), "fault"))
	if v.dir != "" {
		says = fmt.Errorf("%s in %s; restore a backup, or go on without these runs", words.Count(int64(n), "fault"), v.dir)
	}
	return &exit.Error{Code: exit.Verification, Err: says}
}

// untrusted returns the error if nobody that the user trusts has signed all that was checked.
func (v *verifier) untrusted() error {
	if v.isTrusted() {
		return nil
	}
	says := errors.New("nothing is damaged, but no key in the folder of trust has signed all of it: run verify as the user of the server, " +
		"or give --key with what lastword key printed there")
	switch l := v.report.Ledger; {
	case len(v.keys) > 0:
		says = errors.New("nothing is damaged, but the keys of --key have not signed all of it: give all keys that lastword key printed at the server")
	case l != nil && l.Unsigned > 0:
		says = fmt.Errorf("nothing is damaged, but %d of %d entries of the ledger have no signature: a server without a folder of trust wrote them", l.Unsigned, l.Entries)
	case l != nil && l.Unentered > 0:
		says = fmt.Errorf("nothing is damaged, but %s ended without an entry in a ledger: a server that was killed or is older wrote "+
			"the ends; start one, and look again", words.Count(int64(l.Unentered), "run"))
	case l != nil && v.nats != "":
		says = errors.New("nothing is damaged, but no key in the folder of trust has signed all of it, or the keys of the other servers: compare " +
			"the keys that lastword key --nats prints with the keys of the servers, and sign them with --sign")
	case l == nil && v.all && v.dir != "":
		says = errors.New("nothing is damaged, but there is no ledger of ends yet: lastword serve begins one, and signs it")
	}
	return &exit.Error{Code: exit.Untrusted, Err: says}
}

// stateFolder returns the folder that the flag names, or the setting with the name, or the default.
func stateFolder(cmd *cobra.Command, p *host.Program, flag, name string) (string, error) {
	if flag == "" {
		s, err := settings.Load(cmd, p.Env, p.ConfigFile, nil, p.Secrets)
		if err != nil {
			return "", err
		}
		flag = cmp.Or(s.Value(name), p.Env.StateFolder())
	}
	if flag == "" {
		return "", store.ErrNoFolder
	}
	return settings.Absolute(flag), nil
}

// serveState is the setting with the folder of serve.
const serveState = "serve.state"
