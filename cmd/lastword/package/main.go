// Command package makes the files of a release of lastword: archives, packages of Debian and of RPM, an image for
// containers, bundles for MCP hosts, what Homebrew and Scoop read, a list of components and the digests of all.
//
// The same commit, version and Go give the same bytes: the time in each file is the commit's, owners are fixed, and
// entries are sorted. The program is a separate module, so that who builds lastword needs none of its libraries.
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

const home = "https://github.com/seed889630bf/lastword"

// target is a system that a binary is for.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "-" + t.arch }

func (t target) program() string {
	if t.os == "windows" {
		return "lastword.exe"
	}
	return "lastword"
}

func targets() []target {
	var all []target
	for _, system := range []string{"darwin", "freebsd", "linux", "windows"} {
		all = append(all, target{system, "amd64"}, target{system, "arm64"})
	}
	return all
}

// release is what the files of one have in common.
type release struct {
	version  string            // such as 0.1.0
	commit   string            // in full
	at       time.Time         // the commit's
	binaries map[target]string // the paths of the programs
	share    []file            // what lies beside the program in each archive: licence, manual, completions
	out      string            // the folder of what is made
	kinds    []string          // the ends of the names of what is made; none is all
	sums     map[string]string // the SHA-256 of each file made, in hexadecimal
}

func main() {
	out := flag.String("out", "dist", "`folder` of what is made")
	binary := flag.String("binary", "", "pack this `program`, which runs here, for this system alone; else build for all systems")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: package [-out folder] [-binary program] version [kind...]\n\nThe version is such as v0.1.0, and a kind the end of names, such as deb; else all kinds are made.\nSIGNING_KEY is the path of an OpenSSH key that signs the digests.")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*out, *binary, flag.Arg(0), flag.Args()[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

var versions = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?$`)

// run makes the files of a release in out. With a binary, it packs only that, and makes nothing that is for all
// systems.
func run(out, binary, version string, kinds []string) error {
	if !versions.MatchString(version) {
		return fmt.Errorf("the version is %q; give one such as v0.1.0", version)
	}
	stage, err := os.MkdirTemp("", "lastword-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(stage)
	r := &release{version: version[1:], out: out, kinds: kinds, sums: map[string]string{}}
	if err := r.readCommit(); err != nil {
		return err
	}
	here := target{runtime.GOOS, runtime.GOARCH}
	if binary != "" {
		r.binaries = map[target]string{here: binary}
	} else if r.binaries, err = build(version, stage); err != nil {
		return err
	}
	if r.share, err = documents(r.binaries[here], r.version, stage); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	if err := r.packAll(stage); err != nil || binary != "" {
		return err
	}
	return r.finish(stage)
}

// packAll makes the files that are for one system, for each system.
func (r *release) packAll(stage string) error {
	for _, t := range r.targets() {
		if err := r.archive(t); err != nil {
			return err
		}
		if err := r.bundle(t); err != nil {
			return err
		}
		if t.os != "linux" {
			continue
		}
		if err := r.packages(t, stage); err != nil {
			return err
		}
	}
	return nil
}

// finish makes the files that are for all systems. It needs the digests of the others.
func (r *release) finish(stage string) error {
	for _, make := range []func() error{
		func() error { return r.image(stage) }, r.manifests, r.components, r.digests,
	} {
		if err := make(); err != nil {
			return err
		}
	}
	return nil
}

// targets returns the systems that there is a program for, sorted.
func (r *release) targets() []target {
	return slices.SortedFunc(maps.Keys(r.binaries), func(a, b target) int { return strings.Compare(a.String(), b.String()) })
}

// create has fill write the file, and keeps its digest. It makes no file of a kind that nobody asked for.
func (r *release) create(name string, fill func(w io.Writer) error) error {
	if len(r.kinds) > 0 && !slices.ContainsFunc(r.kinds, func(kind string) bool { return strings.HasSuffix(name, "."+kind) }) {
		return nil
	}
	f, err := os.Create(filepath.Join(r.out, name))
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	if err := fill(io.MultiWriter(f, sum)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	r.sums[name] = fmt.Sprintf("%x", sum.Sum(nil))
	info, err := f.Stat()
	if err == nil {
		fmt.Printf("%10d  %s\n", info.Size(), name)
	}
	return err
}

// digests writes the digests of all files, and signs them if there is a key.
func (r *release) digests() error {
	const name = "SHA256SUMS"
	var lines strings.Builder
	for _, of := range slices.Sorted(maps.Keys(r.sums)) {
		lines.WriteString(r.sums[of] + "  " + of + "\n")
	}
	if err := r.create(name, func(w io.Writer) error { _, err := io.WriteString(w, lines.String()); return err }); err != nil {
		return err
	}
	key := os.Getenv("SIGNING_KEY")
	if key == "" {
		fmt.Println("unsigned: SIGNING_KEY names no key")
		return nil
	}
	path := filepath.Join(r.out, name)
	if err := os.RemoveAll(path + ".sig"); err != nil { // ssh-keygen would ask
		return err
	}
	if _, err := output("", nil, "ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", "file", path); err != nil {
		return err
	}
	public, err := output("", nil, "ssh-keygen", "-y", "-f", key)
	if err != nil {
		return err
	}
	fmt.Printf("signed; allowed_signers of this key is the line\n  lastword namespaces=\"file\" %s\n", public)
	return nil
}

// output runs the program in the folder with more variables, and returns what it prints, without the end of the line.
func output(folder string, env []string, name string, args ...string) (string, error) {
	c := exec.Command(name, args...)
	c.Dir, c.Stderr, c.Env = folder, os.Stderr, append(os.Environ(), env...)
	out, err := c.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSuffix(string(out), "\n"), err
}
