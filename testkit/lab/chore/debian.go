package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// debian writes an empty Debian of this machine's release as a tar file at the path. It needs root and debootstrap.
func debian(args []string) error {
	release, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return err
	}
	name := regexp.MustCompile(`(?m)^VERSION_CODENAME=(.+)$`).FindSubmatch(release)
	if len(args) != 1 || name == nil {
		return fmt.Errorf("debian takes the path of one file, and /etc/os-release must name a release")
	}
	root, err := os.MkdirTemp("", "")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	if err := os.Chmod(root, 0o755); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(args[0]), 0o755); err != nil {
		return err
	}
	if out, err := exec.Command("debootstrap", "--variant=minbase", "--include=curl", string(name[1]), root).CombinedOutput(); err != nil {
		return fmt.Errorf("debootstrap: %w\n%s", err, out)
	}
	for _, dir := range []string{"var/cache/apt/archives", "var/lib/apt/lists", "usr/share/locale"} {
		if err := os.RemoveAll(filepath.Join(root, dir)); err != nil {
			return err
		}
	}
	if err := run("", "tar", "-C", root, "-cf", args[0]+".new", "."); err != nil {
		return err
	}
	return os.Rename(args[0]+".new", args[0])
}

// unpack fetches packages of Debian into a folder and unpacks them there, if their programs are not on this machine. They
// are not installed: a package of a server would start it. Its arguments are FOLDER and PACKAGE=PROGRAM.
func unpack(args []string) error {
	for _, pair := range args[1:] {
		name, program, _ := strings.Cut(pair, "=")
		if _, err := exec.LookPath(program); err == nil {
			continue
		}
		if there, _ := filepath.Glob(filepath.Join(args[0], "usr/*bin", program)); there != nil {
			continue
		}
		if err := fetch(args[0], name); err != nil {
			return err
		}
	}
	return nil
}

// fetch downloads the package and unpacks it in the folder.
func fetch(dir, name string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := run(dir, "apt-get", "download", "-qq", name); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(dir, name+"_*.deb"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("apt-get left no package %s in %s", name, dir)
	}
	if err := run("", "dpkg-deb", "-x", files[0], dir); err != nil {
		return err
	}
	return os.Remove(files[0])
}
