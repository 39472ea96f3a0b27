package main

import (
	"bytes"
	"encoding/pem"
	"io"
	"io/fs"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// nobody is the user of the image, as in other images without root.
const nobody = 65532

// image writes an archive of an OCI image layout: one index, with an image for each architecture of Linux.
func (r *release) image(stage string) error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, t := range r.targets() {
		if t.os != "linux" {
			continue
		}
		img, err := r.imageOf(t)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: t.os, Architecture: t.arch}}})
	}
	folder := filepath.Join(stage, "image")
	to, err := layout.Write(folder, empty.Index)
	if err != nil {
		return err
	}
	err = to.AppendIndex(index, layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": r.version, "io.containerd.image.name": "docker.io/library/lastword:" + r.version}))
	if err != nil {
		return err
	}
	files, err := filesOf(folder)
	if err != nil {
		return err
	}
	return r.create("lastword-"+r.version+"-oci.tar", func(w io.Writer) error { return tarred(w, files, r.at) })
}

// imageOf returns the image for a system. Its only layer has the program and what that needs: roots, /tmp and a home.
func (r *release) imageOf(t target) (v1.Image, error) {
	var layer bytes.Buffer
	err := tarred(&layer, []file{
		{name: "etc/ssl/certs/ca-certificates.crt", text: authorities(), mode: 0o644},
		{name: "tmp/", mode: 0o777 | fs.ModeSticky},
		{name: "usr/bin/lastword", path: r.binaries[t], mode: 0o755},
		{name: "usr/share/doc/lastword/copyright", path: root + "/LICENSE", mode: 0o644},
		{name: "var/lib/lastword/", mode: 0o700, uid: nobody},
	}, r.at)
	if err != nil {
		return nil, err
	}
	l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(layer.Bytes())), nil },
		tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if img, err = mutate.Append(img, mutate.Addendum{Layer: l, History: v1.History{Created: v1.Time{Time: r.at}, Comment: "lastword " + r.version}}); err != nil {
		return nil, err
	}
	about, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	about = about.DeepCopy()
	about.OS, about.Architecture, about.Created = t.os, t.arch, v1.Time{Time: r.at}
	about.Config = r.config()
	return mutate.ConfigFile(img, about)
}

// config has the container serve, and keep all below the volume. Flags and variables change each of these settings.
func (r *release) config() v1.Config {
	const volume = "/var/lib/lastword"
	return v1.Config{
		User: "65532:65532", WorkingDir: volume, Volumes: map[string]struct{}{volume: {}}, ExposedPorts: map[string]struct{}{"7878/tcp": {}},
		Entrypoint: []string{"/usr/bin/lastword"}, Cmd: []string{"serve"},
		Env: []string{"PATH=/usr/bin", "HOME=" + volume, "STATE_DIRECTORY=" + volume + "/state", "LASTWORD_TRUST=" + volume + "/trust", "LASTWORD_SERVE_HTTP=0.0.0.0:7878",
			"LASTWORD_SERVE_HOST=localhost", "LASTWORD_SERVE_TOKENS=" + volume + "/tokens", "LASTWORD_SERVE_OUT=" + volume + "/files"},
		Labels: map[string]string{"org.opencontainers.image.source": home, "org.opencontainers.image.version": r.version,
			"org.opencontainers.image.revision": r.commit, "org.opencontainers.image.licenses": "Apache-2.0"},
	}
}

// authorities returns the roots that Mozilla trusts without conditions, as PEM; a file cannot say the conditions of others.
func authorities() string {
	var text bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a buffer takes all
		}
	}
	return text.String()
}
