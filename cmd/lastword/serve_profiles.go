package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"runtime/pprof"
	"runtime/trace"
	"strconv"
	"syscall"
	"time"

	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/server"
)

// profiles serves the profiles of the Go runtime to callers and pages on this machine, at the paths that "go tool
// pprof" uses. net/http/pprof does the same, but makes the binary 300 kB larger.
func profiles(address string) (http.Handler, error) {
	entrance, err := auth.New(auth.Config{Listen: address})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "profile?seconds=30\ntrace?seconds=1")
		for _, p := range pprof.Profiles() {
			fmt.Fprintf(w, "%s?debug=1\n", p.Name())
		}
	})
	mux.HandleFunc("GET /debug/pprof/{name}", func(w http.ResponseWriter, r *http.Request) {
		if err := profile(w, r, r.PathValue("name")); err != nil {
			auth.Refuse(w, err)
		}
	})
	return entrance.Public(mux), nil
}

// profile writes the profile called name: one that the runtime keeps, or one that is recorded for some seconds.
func profile(w http.ResponseWriter, r *http.Request, name string) error {
	debug, _ := strconv.Atoi(r.FormValue("debug"))
	seconds, _ := strconv.Atoi(r.FormValue("seconds"))
	if debug == 0 {
		w.Header().Set("Content-Type", "application/octet-stream")
	}
	record := func(start func(io.Writer) error, stop func(), usual int) error {
		if err := start(w); err != nil {
			return auth.NewProblem(auth.CodeBadRequest, err.Error()) // another caller is recording
		}
		defer stop()
		select {
		case <-time.After(time.Duration(cmp.Or(max(seconds, 0), usual)) * time.Second):
		case <-r.Context().Done():
		}
		return nil
	}
	switch name {
	case "profile":
		return record(pprof.StartCPUProfile, pprof.StopCPUProfile, 30)
	case "trace":
		return record(trace.Start, trace.Stop, 1)
	}
	recorded := pprof.Lookup(name)
	if recorded == nil {
		http.NotFound(w, r)
		return nil
	}
	return recorded.WriteTo(w, debug)
}

// serveBeside serves the door at another address, if that is not "", until stop is called.
func serveBeside(runtime *host.Server, address string, door http.Handler) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, errListen(err)
	}
	return host.RunBeside(func(ctx context.Context) {
		if err := server.Serve(ctx, listener, door, server.Limits{Drain: time.Second, Log: runtime.Slog()}); err != nil {
			runtime.Log.Warn(address, zap.Error(err))
		}
	}), nil
}

// The errors of Windows sockets are not those of syscall.
const wsaInUse, wsaRefused = syscall.Errno(10048), syscall.Errno(10061)

// errListen adds to the error what to do if the address is not available.
func errListen(err error) error {
	err = fmt.Errorf("cannot listen: %w", err)
	if errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, wsaInUse) {
		err = fmt.Errorf("%w\nanother program is there, perhaps a server: lastword ui shows it; --http 127.0.0.1:0 takes a free port", err)
	}
	return &exit.Error{Code: exit.Configuration, Err: err}
}

// listenOn listens at the address. It first removes a socket that a killed server has left.
func listenOn(network, address string) (net.Listener, error) {
	listener, err := net.Listen(network, address)
	if network != "unix" || !errors.Is(err, syscall.EADDRINUSE) && !errors.Is(err, wsaInUse) {
		return listener, err
	}
	socket, statErr := os.Lstat(address)
	c, dialErr := net.Dial(network, address)
	if dialErr == nil {
		c.Close()
	}
	if statErr != nil || socket.Mode().Type() != fs.ModeSocket ||
		!errors.Is(dialErr, syscall.ECONNREFUSED) && !errors.Is(dialErr, wsaRefused) {
		return nil, err
	}
	if err := os.Remove(address); err != nil {
		return nil, err
	}
	return net.Listen(network, address)
}
