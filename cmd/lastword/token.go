package main

import (
	"cmp"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/cmd/internal/tokenfile"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

func tokenCommand(p *host.Program) *cobra.Command {
	var file string
	cmd := settings.Parent("token", tokenAddCommand(p, &file), tokenListCommand(&file), tokenRemoveCommand(&file))
	flags := cmd.PersistentFlags()
	flags.StringVar(&file, "file", "", "`file` of tokens; made if missing, readable by you only")
	return cmd
}

func tokenAddCommand(p *host.Program, file *string) *cobra.Command {
	var scopes []string
	cmd := &cobra.Command{
		Use:               "add <name>",
		Args:              named(file),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return addToken(cmd, p.Stdout, *file, args[0], scopes)
		},
	}
	both := []string{string(auth.ReadRuns), string(auth.WriteRuns)}
	cmd.Flags().StringSliceVar(&scopes, "scope", both, "`scopes`, separated by commas")
	return cmd
}

func tokenListCommand(file *string) *cobra.Command {
	return &cobra.Command{
		Use: "list",
		Args: func(cmd *cobra.Command, args []string) error {
			return errors.Join(noArguments(cmd, args), fileGiven(cmd, *file))
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			lines, err := tokenfile.Lines(*file)
			listed := 0
			for _, line := range lines {
				if name, scopes, digest, ok := tokenfile.Fields(line); ok && err == nil {
					_, err = fmt.Fprintf(cmd.OutOrStdout(), "%-24s  %-24s  %.12s\n", name, scopes, digest)
					listed++
				}
			}
			if err == nil && listed == 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "the file has no token")
			}
			return err
		},
	}
}

func tokenRemoveCommand(file *string) *cobra.Command {
	return &cobra.Command{
		Use:               "remove <name>",
		Args:              named(file),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := tokenfile.Remove(*file, args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.ErrOrStderr(), "%s of %s removed\n", words.Count(n, "token"),
				words.Printable(args[0]))
			return err
		},
	}
}

// named requires one argument, the name of a caller, and --file.
func named(file *string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return exit.BadUsage(cmd, fmt.Errorf("%s needs the name of one caller", cmd.Name()), "")
		}
		return fileGiven(cmd, *file)
	}
}

func fileGiven(cmd *cobra.Command, file string) error {
	if file == "" {
		return exit.BadUsage(cmd, errors.New("give --file FILE, the file of tokens"), "")
	}
	return nil
}

// addToken adds a line to the file before it prints the token, so that every printed token works. stdout is the one that
// removes no secrets.
func addToken(cmd *cobra.Command, stdout io.Writer, file, name string, scopes []string) error {
	token, digest := auth.NewToken()
	asked := make([]auth.Scope, len(scopes))
	for i, scope := range scopes {
		asked[i] = auth.Scope(scope)
	}
	line, err := auth.Line(name, asked, digest)
	if err != nil {
		return exit.BadUsage(cmd, err, "")
	}
	if err := tokenfile.Append(file, line); err != nil {
		return exit.Misconfigured(err)
	}
	if _, err := fmt.Fprintln(stdout, token); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.ErrOrStderr(), "added %[2]s to %[1]s; the token is shown only this once\n",
		words.Printable(file), name)
	return err
}

// keyed holds the flags of key.
type keyed struct {
	*host.Program
	dir, nats, creds string
	rotate           bool
	sign             []string
}

func keyCommand(p *host.Program) *cobra.Command {
	k := &keyed{Program: p}
	cmd := &cobra.Command{
		Use: "key",
		Args: func(cmd *cobra.Command, args []string) error {
			if k.nats == "" && len(k.sign) > 0 || k.nats != "" && k.dir != "" {
				return exit.BadUsage(cmd, errors.New("give --sign with --nats, and --nats without --state"), "")
			}
			return noArguments(cmd, args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			keys, err := k.run(cmd)
			if err == nil && len(keys.Public) == 0 {
				err = fmt.Errorf("there is no key in %s; lastword serve makes one", cmp.Or(k.nats, k.dir))
			}
			if err != nil {
				return exit.Misconfigured(err)
			}
			for _, key := range keys.Texts() {
				fmt.Fprintln(cmd.OutOrStdout(), key)
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&k.dir, "state", "", "`folder` of a server (default: the one of serve)")
	flags.StringVar(&k.nats, "nats", "", "`URL` of NATS JetStream, which has the keys of several servers")
	flags.StringVar(&k.creds, "nats-creds", "", "`file` with the credentials for --nats")
	flags.BoolVar(&k.rotate, "rotate", false, "make a new key, which signs from now on")
	flags.StringSliceVar(&k.sign, "sign", nil, "with --nats, sign the `keys` of other servers, so that verify trusts them where it trusts yours")
	settings.FlagOnly(flags, "state", "rotate", "nats", "nats-creds", "sign")
	return cmd
}

// run makes a new key or signs keys if the flags say so, and returns all keys.
func (k *keyed) run(cmd *cobra.Command) (keys store.Keys, err error) {
	var others []ed25519.PublicKey
	for _, text := range k.sign {
		key, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(key) != ed25519.PublicKeySize {
			return keys, fmt.Errorf("--sign: %q is no key that lastword key prints", text)
		}
		others = append(others, key)
	}
	if k.nats == "" {
		k.dir, err = stateFolder(cmd, k.Program, k.dir, serveState)
	}
	publish := func(sign ed25519.PrivateKey, others ...ed25519.PublicKey) error {
		if k.nats == "" {
			keys, err = store.Publish(k.dir, others...)
			return err
		}
		keys, err = store.ChangeShared(cmd.Context(), k.nats, k.creds, k.Secrets, func(keys store.Keys) store.Keys {
			for _, key := range others {
				keys = keys.Enter(key, sign)
			}
			return keys
		})
		return err
	}
	switch {
	case err != nil:
	case k.rotate || len(others) > 0:
		err = k.signed(publish, others)
	case k.nats == "":
		keys, err = store.ReadKeys(k.dir)
	default:
		err = publish(nil)
	}
	return keys, err
}

// signed has the user's key sign others, and one that takes its place with --rotate.
func (k *keyed) signed(publish func(ed25519.PrivateKey, ...ed25519.PublicKey) error, others []ed25519.PublicKey) error {
	folder, err := k.Trust()
	if err == nil {
		err = folder.Apart(k.Env, k.dir)
	}
	if err != nil {
		return err
	}
	key, err := folder.Key(nil)
	if err == nil && len(others) > 0 {
		err = publish(key, others...)
	}
	if err == nil && k.rotate {
		_, err = folder.Key(func(public ed25519.PublicKey) error { return publish(key, public) })
	}
	return err
}
