package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/internal/packed"
)

//go:embed clients.txt.gz
var clientPages string

// client is a program that has settings for MCP servers. clients.txt has them, and says how they are written.
type client struct {
	name, file    string
	local, remote string // the settings; remote is "" if the client knows no URLs
	anyFolder     bool   // the client starts servers in any folder, so that relative paths do not work
}

// clientsKnown returns the clients of clients.txt.
func clientsKnown() (all []client) {
	for _, page := range strings.Split(strings.TrimSuffix(string(packed.Text(clientPages)), "\n"), "\n\n== ")[1:] {
		head, page, _ := strings.Cut(page, "\nlocal:\n")
		local, remote, _ := strings.Cut(page, "\nremote:\n")
		name, rest, _ := strings.Cut(head, ": ")
		name, anywhere, _ := strings.Cut(name, " ")
		file, _, _ := strings.Cut(rest, "\n")
		all = append(all, client{name, file, local, remote, anywhere != ""})
	}
	return all
}

func clientList() (names []string) {
	for _, c := range clientsKnown() {
		names = append(names, c.name)
	}
	return names
}

func clientNames() string { return strings.Join(clientList(), ", ") }

// ofToken matches what settings hold for a server that asks for a token.
var ofToken = regexp.MustCompile(`(?s)\[\[.*?\]\]`)

// written fills the values into settings, and indents those that are JSON.
func written(text string, token bool, values ...string) ([]byte, error) {
	if !token {
		text = ofToken.ReplaceAllString(text, "")
	}
	filled := []byte(strings.NewReplacer(append(values, "[[", "", "]]", "")...).Replace(text) + "\n")
	if !bytes.HasPrefix(filled, []byte("{")) {
		return filled, nil
	}
	var b bytes.Buffer
	err := json.Indent(&b, filled, "", "  ")
	return b.Bytes(), err
}

// inJSON formats a string or a list of strings in a way that is valid in TOML and YAML too. It leaves characters such as &
// as they are, because people read the text.
func inJSON(value any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	settings.Must(e.Encode(value))
	return strings.TrimSuffix(b.String(), "\n")
}

// printClient prints the settings to stdout, and the file that they belong to to stderr.
func (s *mcpOptions) printClient(cmd *cobra.Command) error {
	known := clientsKnown()
	i := slices.IndexFunc(known, func(c client) bool { return c.name == s.printConfig })
	if i < 0 {
		return exit.BadUsage(cmd, fmt.Errorf("no client is called %q", s.printConfig), "the clients are "+clientNames())
	}
	text, err := s.settingsOf(cmd, known[i])
	if err != nil {
		return err
	}
	if _, err := cmd.OutOrStdout().Write(text); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.ErrOrStderr(), "for %s\n", known[i].file)
	return err
}

// settingsOf returns the settings for a client: of a server that it starts, or of one with a URL.
func (s *mcpOptions) settingsOf(cmd *cobra.Command, c client) ([]byte, error) {
	if s.url == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		args := append([]string{"mcp"}, s.given(cmd, c.anyFolder)...)
		return written(c.local, false, "{command}", inJSON(self), "{args}", inJSON(args), "{line}", inJSON(append([]string{self}, args...)))
	}
	address, ok := webURL(s.url)
	switch {
	case !ok:
		return nil, exit.BadUsage(cmd,
			errors.New("--url needs the https URL of a server, such as https://runs.example.com/mcp"), "")
	case c.remote == "":
		err := fmt.Errorf("%s knows no URLs in its settings; add the server among its connectors", c.name)
		return nil, exit.BadUsage(cmd, err, "")
	}
	if given := s.given(cmd, false); len(given) > 0 {
		err := fmt.Errorf("%s is for a server that the client starts; leave it out, or --url", given[0])
		return nil, exit.BadUsage(cmd, err, "")
	}
	host := address.Hostname()
	here := host == "localhost" || host == "::1" || strings.HasPrefix(host, "127.")
	return written(c.remote, !here, "{url}", inJSON(s.url))
}

// given returns the flags on the command line, with which the client can start the same server. Folders become
// absolute, because the client may start it in another folder.
func (s *mcpOptions) given(cmd *cobra.Command, anyFolder bool) (args []string) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		value := f.Value.String()
		if many, is := f.Value.(pflag.SliceValue); is && f.Changed {
			for _, one := range many.GetSlice() {
				args = append(args, "--"+f.Name+"="+one)
			}
			return
		}
		switch {
		case f.Name == "print-config" || f.Name == "url" || !f.Changed && (f.Name != "out" || !anyFolder):
			return
		case f.Name == "out" || f.Name == "key-file" || f.Name == "ca-file" || f.Name == "config":
			value = settings.Absolute(value)
		}
		args = append(args, "--"+f.Name+"="+value)
	})
	return args
}

// webURL parses the URL of a server. It must not contain credentials.
func webURL(text string) (*url.URL, bool) {
	u, err := url.Parse(text)
	return u, err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil
}
