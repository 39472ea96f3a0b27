package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/trust"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

func uiCommand(p *host.Program) *cobra.Command {
	server := ""
	cmd := &cobra.Command{
		Use:         "ui",
		Annotations: map[string]string{settings.ReadsCurrent: "always"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return openPage(cmd, p, server)
		},
	}
	cmd.Flags().StringVar(&server, "server", "", "`URL` of the server (default "+host.DefaultServer+")")
	settings.ByOperator(cmd.Flags())
	return cmd
}

// openPage opens the page of the server. If none answers on this machine, it runs serve and opens the page of that.
func openPage(cmd *cobra.Command, p *host.Program, server string) error {
	serve, _, err := cmd.Root().Find([]string{"serve"})
	if err != nil {
		return err
	}
	running := p.Announced()
	if strings.HasPrefix(running, "unix:") { // no browser opens it
		running = ""
	}
	address := host.Local(cmp.Or(server, running, "http://"+serve.Flag("http").Value.String()))
	if _, ok := webURL(address); !ok {
		return exit.BadUsage(cmd, fmt.Errorf("%s is not an address that a browser opens; give one such as "+
			"http://127.0.0.1:7878", address), "")
	}
	show := func(url string) {
		url = strings.TrimRight(host.Local(url), "/") + "/"
		fmt.Fprintln(cmd.OutOrStdout(), url)
		browse(p.Env, url)
	}
	switch {
	case answers(cmd.Context(), address):
		show(address)
		return nil
	case server != "":
		return &exit.Error{Code: exit.Provider, Err: errors.New("no server answers at " + address + "; lastword serve starts one")}
	}
	p.Listening = show
	serve.SetContext(cmd.Context())
	return serve.RunE(serve, nil)
}

// answers reports whether a server answers at the URL.
func answers(ctx context.Context, url string) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	c, err := api.New(url, "")
	if err != nil {
		return false
	}
	got, err := c.Get(ctx, "/livez")
	if err != nil {
		return false
	}
	defer got.Body.Close()
	return got.StatusCode == http.StatusOK
}

// browse opens the URL in the desktop's browser, if there is one. The user has the address if it fails.
func browse(env environment.Variables, url string) {
	command := map[string][]string{"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
	if command == nil && (env.Get("DISPLAY") != "" || env.Get("WAYLAND_DISPLAY") != "") {
		command = []string{"xdg-open"}
	}
	if command == nil {
		return
	}
	path := trust.Path(env.Get("PATH"), env)
	program := trust.Command(command[0], "", path)
	if !filepath.IsAbs(program) {
		return // package exec would look in the whole PATH
	}
	opener := exec.Command(program, append(command[1:], url)...)
	opener.Dir, opener.Env = filepath.Dir(opener.Path), append(slices.Clip(env), "PATH="+path)
	if opener.Start() == nil {
		_ = opener.Process.Release() // it ends by itself
	}
}
