package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// cast records what three windows show in the demo of the README, as asciinema plays it. It takes the program and the file.
func cast(args []string) error {
	if len(args) != 2 {
		return errors.New("cast takes the program and the file to write")
	}
	program, err := filepath.Abs(args[0])
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, os.DirFS("docs/demo")); err != nil {
		return err
	}
	f, err := os.Create(args[1])
	if err != nil {
		return err
	}
	r := &recorder{program: program, dir: dir, begun: time.Now(), out: json.NewEncoder(f)}
	r.out.SetEscapeHTML(false)
	_ = r.out.Encode(map[string]any{"version": 2, "width": 118, "height": 40, "title": "lastword: kill -9, and go on"})
	return errors.Join(r.demo(), r.err, f.Close())
}

func (r *recorder) demo() error {
	server, _, err := r.start(1, "serve --jobs jobs.yaml", "http://")
	if err != nil {
		return err
	}
	starter, ended, err := r.start(2, "plan run plan.yaml --server http://127.0.0.1:7878", "pages[2] completed")
	if err != nil {
		return errors.Join(err, server.Process.Kill())
	}
	reader, read, err := r.start(3, "runs watch last", "pages[3] completed")
	r.show(1, "$ kill -9 %1")
	if err = errors.Join(err, server.Process.Kill()); err != nil {
		return err
	}
	if server, _, err = r.start(1, "serve --jobs jobs.yaml", "http://"); err != nil {
		return err
	}
	defer server.Process.Kill()
	<-ended
	<-read
	if err := errors.Join(starter.Wait(), reader.Wait()); err != nil {
		return err
	}
	for _, command := range []string{"verify last", "explain last"} {
		last, ended, err := r.start(1, command, "")
		if err != nil {
			return err
		}
		<-ended
		if err := last.Wait(); err != nil {
			return err
		}
	}
	return nil
}

// recorder writes what windows show. mu guards out and err.
type recorder struct {
	program, dir string
	begun        time.Time
	mu           sync.Mutex
	out          *json.Encoder
	err          error
}

// start starts lastword in a window, and waits until the window shows the words. ended is closed at the end of its output.
func (r *recorder) start(window int, command, until string) (cmd *exec.Cmd, ended chan struct{}, err error) {
	r.show(window, "$ lastword "+command)
	cmd = exec.Command(r.program, strings.Fields(command)...)
	cmd.Dir, cmd.Env = r.dir, append(os.Environ(), "HOME="+r.dir, "XDG_STATE_HOME="+r.dir)
	output, input, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	cmd.Stdout, cmd.Stderr = input, input
	err = errors.Join(cmd.Start(), input.Close())
	shown, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		defer output.Close()
		found := sync.OnceFunc(func() { close(shown) })
		defer found()
		for lines := bufio.NewScanner(io.Reader(output)); lines.Scan(); {
			r.show(window, lines.Text())
			if strings.Contains(lines.Text(), until) {
				found()
			}
		}
	}()
	<-shown
	return cmd, ended, err
}

func (r *recorder) show(window int, line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := fmt.Sprintf("\x1b[3%dm%d|\x1b[0m %s\r\n", 1+window, window, line)
	r.err = errors.Join(r.err, r.out.Encode([]any{time.Since(r.begun).Seconds(), "o", text}))
}
